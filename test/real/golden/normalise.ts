/** What no two servers have in common, whoever wrote them: identities, times, addresses, random names. In this order. */
const VARYING: readonly (readonly [pattern: RegExp, text: string])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '<uid>'],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, '<token>'],
  [/https:\/\/127\.0\.0\.2\d:\d+/g, '<server>'],
  [/\b127\.0\.0\.2\d:\d+/g, '<server>'],
  [/(resourceVersion\\?"?: ?\\?")\d+/g, '$1<version>'],
  [/(Resource Version:\s+)\d+/g, '$1<version>'],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)/g, '<time>'],
  [/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4} UTC/g, '<time>'],
  [/\b[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, '<time>'],
  [/(?<![\w.:-])(?:\d+[dhms])+(?![\w.-])|<invalid>/g, '<age>'],
  [/\b10\.96\.\d+\.\d+\b/g, '<ip>'],
  // Where and when kubectl logs; before ports, because its process may have the number of one.
  [/^(stderr: )?[IWE]\d{4} [\d:.]+ +\d+ \w+\.go:\d+\]/gm, '$1<log>'],
  [/\b3[0-2]\d{3}\b/g, '<port>'],
  [/\bgenerated-[a-z0-9]{5}\b/g, 'generated-<random>'],
  [/\bkube-api-access-[a-z0-9]{5}\b/g, 'kube-api-access-<random>'],
  // Folders of `kubectl diff`, and the times of the files in them.
  [/\/tmp\/(LIVE|MERGED)-\d+\//g, '/tmp/$1/'],
  [/^((?:---|\+\+\+) \/tmp\/\S+)\t.*$/gm, '$1'],
];

/** Columns are as wide as what is in them, so how many blanks lie between two of them says nothing. */
export function normalise(text: string): string {
  let out = text;
  for (const [pattern, replacement] of VARYING) out = out.replace(pattern, replacement);
  return withSortedManagers(out)
    .split('\n')
    .map((line) => line.replace(/(?<=\S)[ \t]{2,}/g, '  ').trimEnd())
    .join('\n');
}

/** Entries are sorted by their second, which two servers need not share; what happened within one is sorted by name. */
function withSortedManagers(text: string): string {
  return text.replace(/^( *)managedFields:\n((?:\1- .*\n(?:\1 {2}.*\n)*)+)/gm, (_, indent: string, entries: string) => {
    const sorted = entries.split(new RegExp(`^(?=${indent}- )`, 'm')).sort();
    return `${indent}managedFields:\n${sorted.join('')}`;
  });
}
