/** A case of test/real/builtin-cases that the embedded server of these versions answers otherwise than the real one. */
export interface DeclaredDifference {
  readonly name: string;
  readonly versions: readonly string[];
  readonly reason: string;
}

/** recorded.test.ts fails for a difference that is not declared here, and for a declared one that is none. */
export const DECLARED_DIFFERENCES: readonly DeclaredDifference[] = [
  {
    name: 'jobs: minimal',
    versions: ['1.35', '1.37'],
    reason: 'the message prints the internal form of a pod template, which is recorded of 1.36 only',
  },
  {
    name: 'services: bad name',
    versions: ['1.35'],
    reason: 'the replay leaves out the check of names, which belongs to the registry',
  },
  {
    name: 'volumeattachments: bad',
    versions: ['1.35'],
    reason: '1.35 reports the missing attacher twice; once, as 1.36 does',
  },
  {
    name: 'pods: minimal',
    versions: ['1.37'],
    reason: 'the message compares the internal forms of two pods, which are recorded of 1.36 only',
  },
  {
    name: 'pods: resized',
    versions: ['1.37'],
    reason: 'the message compares the internal forms of two pods, which are recorded of 1.36 only',
  },
  {
    name: 'pods: tolerations grow',
    versions: ['1.37'],
    reason: 'the message compares the internal forms of two pods, which are recorded of 1.36 only',
  },
  {
    name: 'pods: put over',
    versions: ['1.37'],
    reason: 'the message compares the internal forms of two pods, which are recorded of 1.36 only',
  },
  {
    name: 'endpointslices: bad',
    versions: ['1.37'],
    reason: '1.37 requires addresses without an explanation; that of 1.36 is given',
  },
  {
    name: 'events: minimal of the newer group',
    versions: ['1.37'],
    reason: '1.37 reports the immutable reason once; twice, as 1.36 does',
  },
  {
    name: 'roles: bad',
    versions: ['1.37'],
    reason: '1.37 requires verbs without an explanation; that of 1.36 is given',
  },
];

/** Shipped versions of which nothing is recorded, with the reason. */
export const NOT_RECORDED: Readonly<Record<string, string>> = {
  '1.33': 'no server of 1.33 was at hand when the others were recorded',
  '1.34': 'no server of 1.34 was at hand when the others were recorded',
};
