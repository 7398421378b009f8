export type Tone = 'good' | 'bad' | 'warn' | 'unknown';

const SHAPES: Readonly<Record<Tone, string>> = {
  good: 'M7 12.5l3.4 3.4 6.8-7.4',
  bad: 'M8 8l8 8M16 8l-8 8',
  warn: 'M12 6.5v7M12 17v.1',
  unknown: 'M9 9.4a3 3 0 1 1 4.3 2.7c-.9.5-1.3 1-1.3 2M12 17.3v.1',
};

/** A shape for each tone, so that colour is not needed. The word stands beside it. */
export function ToneMark({ tone, label }: { readonly tone: Tone; readonly label?: string }) {
  return (
    // biome-ignore lint/a11y/noSvgWithoutTitle: it has a label, or is hidden because the word stands beside it.
    <svg
      class={`tone-mark ${tone}`}
      viewBox="0 0 24 24"
      {...(label === undefined ? { 'aria-hidden': true } : { role: 'img', 'aria-label': label })}
    >
      {tone === 'warn' ? (
        <path class="edge" d="M12 2.5L22.5 20.8H1.5Z" />
      ) : (
        <circle class="edge" cx="12" cy="12" r="10" />
      )}
      <path d={SHAPES[tone]} />
    </svg>
  );
}
