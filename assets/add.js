// Sends the form to the server while one types, and shows the resulting file and what is wrong with the fields one has left.
const form = document.querySelector('form.add');
const progress = document.getElementById('progress');
const left = new Set();
let timer;
let sent = 0;
// What the server said last of the fields as they are; another text, such as that the file was copied, stays until one types.
let said = '';

form.addEventListener('input', ({ target }) => {
  left.delete(target.name);
  said = '';
  clearTimeout(timer);
  timer = setTimeout(check, 300);
});

form.addEventListener('change', ({ target }) => {
  left.add(target.name);
  clearTimeout(timer);
  timer = setTimeout(check, 0);
});

form.addEventListener('click', ({ target }) => {
  if (target.dataset.copy !== undefined) void copy(target);
});

showCopy();

async function check() {
  const request = ++sent;
  const response = await fetch(form.action, {
    method: 'POST',
    body: new URLSearchParams(new FormData(form)),
  });
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  // A response that comes after a later one, or an error page.
  if (request !== sent || page.getElementById('outcome') === null) return;
  for (const fault of form.querySelectorAll('.fault')) showFault(fault, page.getElementById(fault.id));
  for (const advice of form.querySelectorAll('.advice'))
    advice.replaceChildren(...page.getElementById(advice.id).childNodes);
  const done = page.getElementById('progress').textContent;
  if (said !== done && progress.textContent !== done) progress.textContent = done;
  said = done;
  const isOpen = document.querySelector('#outcome > details')?.open ?? false;
  for (const id of ['outcome', 'next'])
    document.getElementById(id).replaceChildren(...page.getElementById(id).childNodes);
  document.querySelector('#outcome > details').open = isOpen;
  showCopy();
}

/** While one types in a field, an old fault goes once it is mended, and a new one waits until one leaves. */
function showFault(fault, found) {
  const text = found.textContent;
  const field = form.elements.namedItem(fault.dataset.field);
  if (text !== '' && !left.has(field.name)) return;
  fault.replaceChildren(...found.childNodes);
  if (text === '') field.removeAttribute('aria-invalid');
  else field.setAttribute('aria-invalid', 'true');
}

function showCopy() {
  for (const button of form.querySelectorAll('[data-copy]'))
    button.hidden = navigator.clipboard === undefined;
}

async function copy(button) {
  await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
  progress.textContent = button.dataset.copied;
}
