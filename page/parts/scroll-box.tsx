import type { ComponentChildren, Ref } from 'preact';

interface ScrollBoxProps {
  readonly label: string;
  readonly class?: string;
  readonly boxRef?: Ref<HTMLElement>;
  readonly children: ComponentChildren;
}

/** A table that may be wider than the page: scrolled by itself, also with the keyboard. */
export function ScrollBox({ label, class: name = '', boxRef = null, children }: ScrollBoxProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no pointer scrolls with the arrow keys.
    <section class={`scroll ${name}`} aria-label={label} tabIndex={0} ref={boxRef}>
      {children}
    </section>
  );
}
