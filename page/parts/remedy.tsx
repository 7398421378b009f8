import { useEffect, useRef, useState } from 'preact/hooks';

const SAID_MS = 2_000;

/** The next step: a sentence, or a command with a button that copies it. */
export function Remedy({ text, isCommand }: { readonly text: string; readonly isCommand: boolean }) {
  if (!isCommand) return <p class="remedy">{text}</p>;
  return <Command text={text} />;
}

function Command({ text }: { readonly text: string }) {
  const code = useRef<HTMLElement>(null);
  const [said, setSaid] = useState('Copy');
  useEffect(() => {
    if (said === 'Copy') return;
    const timer = setTimeout(() => setSaid('Copy'), SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid('Copied');
    } catch {
      // Without TLS, or without the permission, there is no clipboard: the reader presses the keys.
      if (code.current !== null) getSelection()?.selectAllChildren(code.current);
      setSaid('Selected');
    }
  };
  return (
    <div class="command">
      <code ref={code}>{text}</code>
      <button type="button" onClick={copy} aria-label={`${said}: ${text}`}>
        {said}
      </button>
    </div>
  );
}
