/** The size of the font of the page in pixels, for what is drawn: it is larger on large screens, and where the reader wants so. */
export function rootFontPx(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;
}
