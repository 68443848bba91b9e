// SPDX-License-Identifier: Apache-2.0
// Dark or light: as the system has it, until somebody says otherwise. Paper is
// light.

export function addThemeButton(changed: () => void): void {
  const root = document.documentElement;
  const system = matchMedia('(prefers-color-scheme: dark)');
  const isDark = () => {
    const chosen = root.dataset['theme'];
    return chosen ? chosen === 'dark' : system.matches;
  };
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'theme';
  const name = () => {
    button.textContent = isDark() ? 'Light' : 'Dark';
    button.setAttribute('aria-label',
                        `Switch to ${isDark() ? 'light' : 'dark'} colours`);
  };
  button.addEventListener('click', () => {
    root.dataset['theme'] = isDark() ? 'light' : 'dark';
    name();
    changed();
  });
  system.addEventListener('change', () => {
    name();
    changed();
  });
  matchMedia('print').addEventListener('change', changed);
  name();
  document.getElementById('contents')?.append(button);
}
