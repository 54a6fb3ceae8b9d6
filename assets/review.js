// Keys of the review: j and k lead to the next and the previous proposal, a to the button that accepts, / to the search.
const toggle = document.querySelector('#keys input');
const targets = { j: '.decide [rel=next]', k: '.decide [rel=prev]', a: '[value=accepted]', '/': '#q' };
const rows = [...document.querySelectorAll('.rows .name')];

toggle.checked = localStorage.getItem('botshelf.keys') !== 'off';
toggle.addEventListener('change', () => localStorage.setItem('botshelf.keys', toggle.checked ? 'on' : 'off'));

document.addEventListener('keydown', (event) => {
  const { key, target } = event;
  const isTyping = target.matches('input:not([type=checkbox]), textarea, select');
  if (!toggle.checked || isTyping || event.ctrlKey || event.altKey || event.metaKey) return;
  const step = { j: 1, k: -1 }[key];
  const row = rows[Math.max(0, rows.indexOf(document.activeElement) + step)];
  const found = row ?? (Object.hasOwn(targets, key) && document.querySelector(targets[key]));
  if (!found) return;
  event.preventDefault();
  if (row === undefined && step !== undefined) found.click();
  else found.focus();
});
