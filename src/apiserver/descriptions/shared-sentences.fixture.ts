import type { DescriptionsFile, DescriptionTables, Texts } from './descriptions-file.js';

/** Fewer words (`Name of the object`, `TCP, UDP or SCTP`) are facts that can hardly be put otherwise. */
const WORDS_MIN = 5;

/** Returns all texts of a file, each with the place where it stands. */
export function textsIn(tables: DescriptionTables): [place: string, text: string][] {
  const { objects, lists, parameters, types } = tables;
  const listed = (place: string, texts: Texts = {}): [string, string][] =>
    Object.entries(texts).map(([name, text]) => [`${place}.${name}`, text]);
  return [
    ...listed('objects', objects),
    ...listed('lists', lists),
    ...listed('parameters', parameters),
    ...Object.entries(types).flatMap(([name, { text, fields }]): [string, string][] => [
      ...(text === undefined ? [] : [[name, text] as [string, string]]),
      ...listed(name, fields),
    ]),
  ];
}

/** Returns the sentences of Straddle's own descriptions that a captured server has too, as `place: sentence`. */
export function sharedSentences(own: DescriptionTables, captured: DescriptionsFile): string[] {
  const theirs = new Set(textsIn(captured).flatMap(([, text]) => sentencesOf(text)));
  return textsIn(own).flatMap(([place, text]) =>
    sentencesOf(text)
      .filter((sentence) => theirs.has(sentence))
      .map((sentence) => `${place}: ${sentence}`),
  );
}

/** Sentences and their parts between semicolons, in lower case and without punctuation. */
function sentencesOf(text: string): string[] {
  return text
    .split(/[.;:!?]+(?:\s+|$)|\n+/)
    .map((sentence) =>
      sentence
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, ' ')
        .trim(),
    )
    .filter((sentence) => sentence.split(' ').length >= WORDS_MIN);
}
