import { Component, type ComponentChild, type FunctionComponent, h } from 'preact';

/** A component that is drawn again only when one of its properties is another one. */
export function memo<P extends object>(view: FunctionComponent<P>): new (props: P) => Component<P> {
  return class extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      const [before, after] = [this.props as Record<string, unknown>, next as Record<string, unknown>];
      return Object.keys(after).some((name) => before[name] !== after[name]);
    }

    override render(): ComponentChild {
      return h(view, this.props as P);
    }
  };
}
