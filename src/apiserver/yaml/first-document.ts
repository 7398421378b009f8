/**
 * The first document of a YAML stream: kube-apiserver reads no more of it. A line that begins with `---` or `...` ends a
 * document wherever it stands, in a text of several lines too.
 */
export function firstDocument(text: string): string {
  let from = 0;
  let isOpen = false;
  for (const { 0: marker, index } of text.matchAll(/^(?:---|\.\.\.)(?=[ \t\r\n]|$)/gm)) {
    if (isOpen || hasContent(text.slice(from, index))) return text.slice(0, index);
    isOpen = marker === '---';
    from = index + marker.length;
  }
  return text;
}

/** Comments and directives may stand before the line that begins a document. */
function hasContent(lines: string): boolean {
  return lines.split(/[\r\n]/).some((line) => {
    const content = line.trim();
    return content !== '' && !content.startsWith('#') && !line.startsWith('%');
  });
}
