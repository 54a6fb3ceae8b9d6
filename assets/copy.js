// Gives the button beside a field something to do: it copies what stands there.
for (const button of document.querySelectorAll('[data-copy]')) {
  const field = document.getElementById(button.dataset.copy);
  button.hidden = navigator.clipboard === undefined;
  if (field.autofocus) field.select();
  button.addEventListener('click', () => {
    field.select();
    void copy(field.value, button.dataset.copied);
  });
}

// Gives each code of a guide a button. Of commands after a `$` it copies them alone, without what they print.
const template = document.querySelector('.docs > template');
for (const code of document.querySelectorAll('.docs .code code')) {
  const button = template.content.firstElementChild.cloneNode(true);
  code.closest('.code').firstElementChild.append(button);
  button.lang = document.documentElement.lang;
  button.hidden = false;
  button.addEventListener('click', async () => {
    const commands = [...code.textContent.matchAll(/^\$ ((?:.*\\\n)*.*)/gm)].map(([, command]) => command);
    await copy(commands.join('\n') || code.textContent, button.dataset.copied);
    button.textContent = button.dataset.copied;
  });
}

async function copy(text, answer) {
  await navigator.clipboard.writeText(text);
  document.getElementById('copied').textContent = answer;
}
