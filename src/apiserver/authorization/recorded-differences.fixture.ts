/** A recorded case in which Straddle deliberately differs from kube-apiserver, with the reason for each part that differs. */
export interface RecordedDifference {
  /** The rights or reviews that are asked for. */
  readonly asked?: string;
  /** The answer to the client. */
  readonly answer?: string;
}

const DIFFERENCES: ReadonlyMap<string, RecordedDifference> = new Map([]);

export function differenceOf(name: string): RecordedDifference | undefined {
  return DIFFERENCES.get(name);
}
