import { type ReactNode, useState } from 'react';
import { Icon } from '../parts/icon.tsx';
import { chooseTheme, currentTheme } from './theme.ts';

export function ThemeSwitch(): ReactNode {
  const [theme, setTheme] = useState(currentTheme);
  const other = theme === 'dark' ? 'light' : 'dark';
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={`Switch to ${other} theme`}
      title={`Switch to ${other} theme`}
      onClick={() => {
        chooseTheme(other);
        setTheme(other);
      }}
    >
      <Icon name={theme === 'dark' ? 'sun' : 'moon'} />
    </button>
  );
}
