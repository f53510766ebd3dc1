// The colours that were chosen last, before anything is shown. Without a choice they are those of the system.

try {
  const scheme = localStorage.getItem('scheme')
  if (scheme === 'light' || scheme === 'dark') document.documentElement.dataset['scheme'] = scheme
} catch {
  // Storage may be forbidden. Then there is no choice to keep.
}
