/** The templates of pages: nothing that people or customers typed becomes markup. */
import t from 'tap'
import { html, styleElement } from '../../../http/pages/html.ts'

const HOSTILE = `"><script>alert(1)</script>'&`

t.test('values are escaped in text and in attributes, and templates within templates are not', (t) => {
  const escaped = '&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&#39;&amp;'
  t.equal(html`<p>${HOSTILE}</p>`.text, `<p>${escaped}</p>`)
  t.equal(html`<input value="${HOSTILE}">`.text, `<input value="${escaped}">`)
  const items = [HOSTILE, 'two'].map((each) => html`<li>${each}</li>`)
  t.equal(html`<ul>${items}</ul>`.text, `<ul><li>${escaped}</li><li>two</li></ul>`)
  t.equal(html`<b ${false && html`hidden`}>${null}${3}${[]}</b>`.text, '<b >3</b>')
  t.equal(html`<input ${html`value="${HOSTILE}"`}>`.text, `<input value="${escaped}">`)
  t.end()
})

t.test('a template that places a value where escaping does not help cannot be rendered', (t) => {
  const refused: readonly (() => unknown)[] = [
    () => html`<input value=${HOSTILE}>`,
    () => html`<p onclick="${HOSTILE}">`,
    () => html`<p style="color:${HOSTILE}">`,
    () => html`<script>const name = "${HOSTILE}"</script>`,
    () => html`<style>p { color: ${HOSTILE} }</style>`,
    () => html`<${HOSTILE}>`,
    () => html`</${HOSTILE}>`,
    () => html`<input ${HOSTILE}>`,
    () => html`<input value="${html`<b>`}">`,
    () => html`<a href="${'javascript:alert(1)'}">`,
    () => html`<a href="${'//elsewhere.example'}">`,
    () => html`<a href="${'/\\elsewhere.example'}">`,
    () => html`<form action="${'data:text/html,hello'}">`,
    () => styleElement('</style><script>'),
  ]
  for (const render of refused) t.throws(render, { code: 'ERR_ASSERTION' }, render.toString())
  t.equal(html`<a href="${'/pay/x'}">`.text, '<a href="/pay/x">')
  t.equal(html`<script src="${'/pages/page.js'}"></script><p>${'after'}</p>`.text.endsWith('<p>after</p>'), true)
  t.end()
})
