// Loads the page anew when a file of the catalogue that it shows was saved.
const bot = /\/bots\/(\d+)(?=\/|$)/.exec(location.pathname)?.[1];

new EventSource(new URL('../live', import.meta.url)).addEventListener('change', ({ data }) => {
  if (bot === undefined || bot === data) location.reload();
});
