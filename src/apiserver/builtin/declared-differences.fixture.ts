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
    name: 'services: sticky',
    versions: ['1.35'],
    reason: '1.35 has no warning about externalIPs; the warning of 1.36 is given',
  },
  {
    name: 'services: bad name',
    versions: ['1.35'],
    reason: 'the replay leaves out the check of names, which belongs to the registry',
  },
  {
    name: 'storageclasses: minimal',
    versions: ['1.35', '1.37'],
    reason: '1.35 forbids the update, 1.37 prints null for the value; the message of 1.36 is given',
  },
  {
    name: 'volumeattachments: bad',
    versions: ['1.35'],
    reason: '1.35 reports the missing attacher twice; once, as 1.36 does',
  },
  {
    name: 'horizontalpodautoscalers: bad',
    versions: ['1.35', '1.37'],
    reason: 'maxReplicas and minReplicas of 0 have other messages; those of 1.36 are given',
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
    name: 'prioritylevelconfigurations: unlimited',
    versions: ['1.37'],
    reason: '1.37 requires spec.limited without an explanation; that of 1.36 is given',
  },
  {
    name: 'statefulsets: minimal',
    versions: ['1.37'],
    reason: '1.37 refuses another serviceName as immutable; the message of 1.36 is given',
  },
  {
    name: 'endpointslices: minimal',
    versions: ['1.37'],
    reason: '1.37 prints null for an immutable value; the message of 1.36 is given',
  },
  {
    name: 'endpointslices: bad',
    versions: ['1.37'],
    reason: '1.37 requires addresses without an explanation; that of 1.36 is given',
  },
  {
    name: 'networkpolicies: bad',
    versions: ['1.37'],
    reason: '1.37 prints endPort, 1.36 the port; the message of 1.36 is given',
  },
  {
    name: 'nodes: tainted',
    versions: ['1.37'],
    reason: '1.37 has another message for a changed providerID; that of 1.36 is given',
  },
  {
    name: 'events: minimal of the newer group',
    versions: ['1.37'],
    reason: '1.37 reports the immutable reason once; twice, as 1.36 does',
  },
  {
    name: 'runtimeclasses: minimal',
    versions: ['1.37'],
    reason: '1.37 prints null for an immutable value; the message of 1.36 is given',
  },
  {
    name: 'volumeattachments: minimal',
    versions: ['1.37'],
    reason: '1.37 prints null for an immutable value; the message of 1.36 is given',
  },
  {
    name: 'roles: bad',
    versions: ['1.37'],
    reason: '1.37 requires verbs without an explanation; that of 1.36 is given',
  },
  {
    name: 'rolebindings: minimal',
    versions: ['1.37'],
    reason: '1.37 refuses another roleRef as immutable; the message of 1.36 is given',
  },
  {
    name: 'horizontalpodautoscalers: minimal',
    versions: ['1.37'],
    reason: 'autoscalers have a metadata.generation from 1.37 on; none is written',
  },
  {
    name: 'horizontalpodautoscalers: behaviour',
    versions: ['1.37'],
    reason: 'autoscalers have a metadata.generation from 1.37 on; none is written',
  },
  {
    name: 'horizontalpodautoscalers: minimal of version 1',
    versions: ['1.37'],
    reason: 'autoscalers have a metadata.generation from 1.37 on; none is written',
  },
  {
    name: 'horizontalpodautoscalers: without target',
    versions: ['1.37'],
    reason: 'autoscalers have a metadata.generation from 1.37 on; none is written',
  },
];

/** Shipped versions of which nothing is recorded, with the reason. */
export const NOT_RECORDED: Readonly<Record<string, string>> = {
  '1.33': 'no server of 1.33 was at hand when the others were recorded',
  '1.34': 'no server of 1.34 was at hand when the others were recorded',
};
