// What was typed in the form of this proposal has been sent: the device need not keep it.
const [subject] = /[^-/]+$/.exec(location.pathname);
if (localStorage.getItem('botshelf.form')?.includes(subject)) localStorage.removeItem('botshelf.form');
