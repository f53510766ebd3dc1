// What needs a script: the search, the choice of colours, and buttons that copy. All of it is hidden until this runs.

const root = document.documentElement

/** @param {string} id */
function button(id) {
  const found = document.getElementById(id)
  return found instanceof HTMLButtonElement ? found : undefined
}

const scheme = button('scheme')
if (scheme) {
  const isDark = () =>
    (root.dataset['scheme'] ??
      (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark'
  const show = () => scheme.setAttribute('aria-pressed', String(isDark()))
  scheme.hidden = false
  show()
  scheme.addEventListener('click', () => {
    root.dataset['scheme'] = isDark() ? 'light' : 'dark'
    show()
    try {
      localStorage.setItem('scheme', root.dataset['scheme'])
    } catch {
      // It lasts as long as the page.
    }
  })
}

for (const box of document.querySelectorAll('.code')) {
  const copy = document.createElement('button')
  copy.type = 'button'
  copy.className = 'copy'
  copy.textContent = 'Copy'
  const say = (/** @type {string} */ words) => {
    copy.textContent = words
    setTimeout(() => (copy.textContent = 'Copy'), 2000)
  }
  copy.addEventListener('click', () => {
    const code = box.querySelector('code')?.textContent ?? ''
    navigator.clipboard.writeText(code).then(
      () => say('Copied'),
      () => say('Not allowed'),
    )
  })
  box.append(copy)
}

const opener = button('open-search')
if (opener) {
  /** @type {Promise<typeof import('./search.js')> | undefined} */
  let loading
  const open = async () => {
    loading ??= import('./search.js')
    const { openSearch } = await loading
    await openSearch()
  }
  opener.hidden = false
  opener.addEventListener('click', () => void open())
  document.addEventListener('keydown', (event) => {
    const isTyping =
      event.target instanceof Element && event.target.closest('input, textarea, dialog')
    const isAsked = event.key === '/' || (event.key === 'k' && (event.metaKey || event.ctrlKey))
    if (!isAsked || isTyping) return
    event.preventDefault()
    void open()
  })
}

// The pages of the section are in view, however long the list is.
document.querySelector('#navigation [aria-current]')?.scrollIntoView({ block: 'nearest' })
window.scrollTo(0, location.hash === '' ? 0 : window.scrollY)
