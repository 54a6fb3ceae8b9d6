// Sends the form to the server while one types, shows what it makes and what is wrong with the fields one has left, and keeps
// what is typed on this device until it is sent.
const form = document.querySelector('form.add');
const progress = document.getElementById('progress');
const left = new Set();
let timer;
let sent = 0;
// What the server said last of the fields as they are; another text, such as that the file was copied, stays until one types.
let said = '';

const storageKey = 'botshelf.form';
const address = new URL(form.action);
address.searchParams.delete('locale');
const storage = openStorage();

form.addEventListener('input', ({ target }) => {
  left.delete(target.name);
  said = '';
  keep();
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

document.querySelector('#restored a').addEventListener('click', () => storage?.removeItem(storageKey));
if (form.dataset.typed === undefined) restore();
else keep();
showCopy();

/** Returns the storage of this device; undefined where the browser refuses it, or the form is not worth keeping. */
function openStorage() {
  const note = document.getElementById('kept');
  try {
    return note ? localStorage : undefined;
  } catch {
    note.hidden = true;
    return undefined;
  }
}

function keep() {
  const fields = [...new FormData(form)];
  storage?.setItem(storageKey, JSON.stringify({ address: address.href, fields }));
}

/** Fills in what was typed before the page was left, for example for another language of the site. */
function restore() {
  const kept = JSON.parse(storage?.getItem(storageKey) ?? null);
  if (kept?.address !== address.href) return;
  const fields = new Map(kept.fields);
  for (const field of form.elements) {
    if (field.name === '' || field.type === 'submit') continue;
    if (field.type === 'checkbox') field.checked = fields.has(field.name);
    else field.value = fields.get(field.name) ?? field.value;
  }
  document.getElementById('restored').hidden = false;
  void check();
}

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
  const [id, found] = [form, page].map((root) => root.querySelector('#id'));
  if (id?.value === '') id.value = found.value;
  const done = page.getElementById('progress');
  const text = done.textContent;
  if (said !== text && progress.textContent !== text) progress.replaceChildren(...done.childNodes);
  said = text;
  const isOpen = document.querySelector('#file')?.parentElement.open ?? false;
  for (const name of ['outcome', 'next', 'steps'])
    document.getElementById(name)?.replaceChildren(...page.getElementById(name).childNodes);
  const file = document.querySelector('#file')?.parentElement;
  if (file) file.open = isOpen;
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
