import { loadDescriptionsFile } from '../../apiserver/descriptions/parse-descriptions.js';

/** Returns the descriptions file of each version. Rejects with one sentence if a file cannot be served or two are of one version. */
export async function descriptionsByVersion(files: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const byVersion = new Map<string, string>();
  for (const file of files) {
    const { version } = await loadDescriptionsFile(file).catch((error: Error) => {
      throw new Error(`--descriptions-file: ${error.message}`);
    });
    const other = byVersion.get(version);
    if (other !== undefined) {
      throw new Error(
        `--descriptions-file: ${other} and ${file} both have the descriptions of ${version}: give one of them.`,
      );
    }
    byVersion.set(version, file);
  }
  return byVersion;
}
