/** One check of what is in deploy/ by the program that will read it. */
export interface DeployCase {
  readonly name: string;
  /** Returns a remark for the line of the case, or nothing. Throws if it fails. */
  run(): Promise<string | undefined>;
}
