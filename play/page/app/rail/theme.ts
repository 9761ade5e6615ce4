export type Theme = 'light' | 'dark';

const KEY = 'kdebug-play/theme';

/** What this browser chose, else what its system likes. */
export function currentTheme(): Theme {
  const kept = sessionStorage.getItem(KEY);
  if (kept === 'light' || kept === 'dark') return kept;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

function showTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
}

export function chooseTheme(theme: Theme): void {
  sessionStorage.setItem(KEY, theme);
  showTheme(theme);
}

/** Follows the system as long as nobody chose. */
export function followSystem(): void {
  showTheme(currentTheme());
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => showTheme(currentTheme()));
}
