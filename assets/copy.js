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

async function copy(text, answer) {
  await navigator.clipboard.writeText(text);
  document.getElementById('copied').textContent = answer;
}
