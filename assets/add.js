// Asks the server for the same page while one types, and takes over its faults and the resulting file.
const form = document.querySelector('form.add');
let timer;
let asked = 0;

form.addEventListener('input', ({ target }) => {
  target.dataset.touched = '';
  clearTimeout(timer);
  timer = setTimeout(check, 300);
});

async function check() {
  const turn = ++asked;
  const answer = await fetch(form.action, { method: 'POST', body: new URLSearchParams(new FormData(form)) });
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  if (turn !== asked) return;
  for (const fault of form.querySelectorAll('.fault')) {
    const field = form.elements.namedItem(fault.dataset.field);
    if (field?.dataset?.touched === undefined) continue;
    const found = page.getElementById(fault.id)?.textContent ?? '';
    fault.textContent = found;
    field.setAttribute('aria-invalid', String(found !== ''));
  }
  document.getElementById('outcome').replaceChildren(...page.getElementById('outcome').childNodes);
}
