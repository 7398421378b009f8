import type { ComponentChildren } from 'preact';

export interface SectionProps {
  readonly id: string;
  readonly title: string;
  readonly lead?: ComponentChildren;
  readonly tools?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A landmark with its heading, to which the navigation leads. */
export function Section({ id, title, lead, tools, children }: SectionProps) {
  return (
    <section id={id} aria-labelledby={`${id}-title`} tabIndex={-1}>
      <div class="section-head">
        <h2 id={`${id}-title`}>{title}</h2>
        {lead !== undefined && <p class="lead">{lead}</p>}
        {tools !== undefined && <div class="tools">{tools}</div>}
      </div>
      {children}
    </section>
  );
}
