// Buttons that only work with a script: they are hidden in the page, and shown here where the browser can do what they say.

/** @type {HTMLElement | null} */
const announcer = document.querySelector('[role="status"]')
const COPIED_MS = 2500

if (navigator.clipboard !== undefined && window.isSecureContext) {
  for (const button of document.querySelectorAll('button.copy')) {
    const { copy, label, copied } = button.dataset
    const name = button.textContent
    button.hidden = false
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(copy)
      button.textContent = copied
      button.classList.add('copied')
      if (announcer !== null) announcer.textContent = `${copied}: ${label}`
      setTimeout(() => {
        button.textContent = name
        button.classList.remove('copied')
        if (announcer !== null) announcer.textContent = ''
      }, COPIED_MS)
    })
  }
}

for (const button of document.querySelectorAll('button.reveal')) {
  const { label, show, hide } = button.dataset
  const input = document.getElementById(button.getAttribute('aria-controls'))
  button.hidden = false
  button.addEventListener('click', () => {
    const hidden = input.type === 'password'
    input.type = hidden ? 'text' : 'password'
    button.textContent = hidden ? hide : show
    button.setAttribute('aria-label', `${hidden ? hide : show}: ${label}`)
  })
  // A password is sent as one, so that no browser offers it again as an earlier entry of a text field.
  input.form.addEventListener('submit', () => {
    input.type = 'password'
  })
}

// A form is sent once, however often its button is pressed.
for (const form of document.forms) {
  form.addEventListener('submit', (event) => {
    if (form.dataset.sent === 'true') event.preventDefault()
    form.dataset.sent = 'true'
  })
}
addEventListener('pageshow', () => {
  for (const form of document.forms) delete form.dataset.sent
})
