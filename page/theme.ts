import { useState } from 'preact/hooks';

export const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEY = 'straddle-theme';
const CHANGED = 'straddle-theme-changed';

/** Private windows may forbid storage. */
function storedTheme(): Theme {
  try {
    const stored = localStorage.getItem(KEY);
    return THEMES.find((theme) => theme === stored) ?? 'auto';
  } catch {
    return 'auto';
  }
}

function show(theme: Theme): void {
  if (theme === 'auto') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
  dispatchEvent(new Event(CHANGED));
}

export function startTheme(): void {
  show(storedTheme());
}

export function useTheme(): readonly [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState(storedTheme);
  const choose = (chosen: Theme): void => {
    setTheme(chosen);
    try {
      localStorage.setItem(KEY, chosen);
    } catch {
      // It holds until the page is closed.
    }
    show(chosen);
  };
  return [theme, choose];
}

/** Calls when colours change: by the switch, or by the system. Returns how to stop. */
export function onColoursChange(run: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  system.addEventListener('change', run);
  addEventListener(CHANGED, run);
  return () => {
    system.removeEventListener('change', run);
    removeEventListener(CHANGED, run);
  };
}
