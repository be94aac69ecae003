/** Texts for customers: those that tell too much are found however they are written, and ordinary ones pass. */
import t from 'tap'
import type { ProblemError } from '../../../lib/base/problems.ts'
import { refuseTippingOff, tellsTooMuch } from '../../../lib/compliance/tipping-off.ts'
import { TELLING_WORDS, TELLING_WORDS_DATE } from '../../../lib/compliance/telling-words.ts'

const TELLING = {
  English: [
    'Your payment is held because of a suspicion of money laundering.',
    'The transfer looks suspicious to us.',
    'We suspect that the invoice is not genuine.',
    'We have filed a SAR.',
    'A STR was submitted yesterday.',
    'The payee is on a sanctions list.',
    'OFAC does not allow this.',
    'This country is under embargo.',
    'We reported your account to the authorities.',
    'We had to inform the police about it.',
    'The authorities have been notified.',
    'The matter was referred to the National Crime Agency.',
    'There is an ongoing investigation.',
    'You are being investigated.',
    'Law enforcement asked us not to pay.',
    'There was a hit in our name screening.',
    'Our transaction monitoring has stopped it.',
    'It waits for a compliance review.',
    'The assets were frozen by a court order.',
    'Required by our AML rules.',
    'You are on a watch list.',
    'This is not meant as tipping off.',
    'Financing of terrorism cannot be excluded.',
  ],
  German: [
    'Wegen Geldwäscheverdachts wurde die Zahlung angehalten.',
    'Es besteht ein Verdacht.',
    'Die Zahlung ist verdaechtig.',
    'Der Empfänger steht auf einer EU-Sanktionsliste.',
    'Wir haben Sie bei den Behörden angezeigt.',
    'Der Vorgang wurde der Polizei gemeldet.',
    'Die Staatsanwaltschaft ermittelt gegen Sie.',
    'Ermittlungen laufen.',
    'GELDWAESCHE',
  ],
  French: [
    'Nous avons un soupçon de blanchiment.',
    'Votre opération est suspecte.',
    'Une déclaration a été transmise à Tracfin.',
    'Nous avons signalé ce paiement aux autorités.',
    'Vos avoirs sont visés par un gel des avoirs.',
    'Une enquête est en cours.',
    'Ce pays est soumis à des sanctions.',
  ],
  Spanish: [
    'La operación es sospechosa.',
    'Se trata de blanqueo de capitales.',
    'Sospechamos un lavado de dinero.',
    'El beneficiario está en una lista de sanciones.',
    'Hemos informado a las autoridades.',
    'Hay una investigación abierta.',
    'El SEPBLAC lo ha pedido.',
  ],
  'written so that a search does not find it': [
    'S U S P I C I O N',
    's.u.s.p.i.c.i.o.n',
    'sus picious',
    'sus-pi-cious',
    'SuSpIcIoUs',
    'susp\u00adicious',
    'sus\u200bpi\u200dcious',
    'sus\u2060picious\ufeff',
    'suѕрісіоus',
    'sαnctiοns',
    'ｓａｎｃｔｉｏｎｓ',
    '𝓼𝓪𝓷𝓬𝓽𝓲𝓸𝓷𝓼',
    'ⓢⓐⓝⓒⓣⓘⓞⓝⓢ',
    '🅢🅐🅝🅒🅣🅘🅞🅝🅢',
    'ꜱᴀɴᴄᴛɪᴏɴꜱ',
    's\u0301a\u0308nctions',
    's@nctions',
    '$anctions',
    '5anct10n5',
    'sanct!ons',
    'Iaundering',
    'susplcious',
    'rnoney Iaundering',
    'moneylaundering',
    'mo ney laun dering',
    'A M L',
    'A.M.L.',
    'suspiiicious',
    'Geld wäsche',
    'G e l d w ä s c h e',
    'law\u00a0enforcement',
    'law_enforcement',
    'sanctions\u0000list',
  ],
} as const

const ORDINARY = [
  'The name does not belong to the account number.',
  'Please send us the invoice and the contract for this payment.',
  'What is the business relation between you and the payee?',
  'Please explain where the money comes from.',
  'Your document could not be read; please upload it again.',
  'Which authority issued the licence? Please inform us of its number.',
  'Please confirm who has signing authority.',
  'Please send the number that the tax authorities have given to you, and report it here.',
  'The account details were reported as closed by the bank.',
  'Our laundry services are paid for by the hotel.',
  'Send the annual report for the years 2024 and 2025.',
  'Is the payment to your branch in Hong Kong SAR? File the form there.',
  'Dupont et Fils SARL, 5 Saarbrücker Str. 12, Sarah Strand',
  'The sanctuary for animals in Sanctis has no suspended account.',
  'A prospectus for investors, an investment fund, the suspense account of your ledger.',
  'He got the flu, and his file was late.',
  'Votre ami peut-il confirmer le numéro de sa police d’assurance ?',
  'Une enquête de satisfaction vous sera envoyée.',
  'Sin embargo, el importe no coincide con la factura.',
  'El centro de investigación paga los gastos de investigación y desarrollo.',
  'Die Rechnung fehlt. Bitte laden Sie den Vertrag hoch.',
  'Der Kurs wurde gestern ermittelt, die Gebühr nicht.',
  'Welche Behörde hat die Lizenz ausgestellt? Bitte teilen Sie es uns mit.',
  'Nous vous prions de nous envoyer le contrat signé.',
  'Por favor, envíe el contrato firmado y la factura.',
  'Amount 1250.00 EUR, reference INV-2026-0815, user@example.com, $100!',
  'Παρακαλώ στείλτε το συμβόλαιο.',
  'Пожалуйста, пришлите договор и счёт.',
  '请提供合同和发票。',
  '',
] as const

for (const [language, texts] of Object.entries(TELLING))
  t.test(`found: ${language}`, async (t) => {
    for (const text of texts) t.ok(tellsTooMuch(text), text)
  })

t.test('ordinary letters pass', async (t) => {
  for (const text of ORDINARY) t.notOk(tellsTooMuch(text), text)
})

t.test('every phrase of the lists is found as it is listed', async (t) => {
  t.match(TELLING_WORDS_DATE, /^20\d\d-\d\d-\d\d$/)
  for (const phrase of TELLING_WORDS.flatMap(({ phrases }) => phrases))
    t.ok(tellsTooMuch(`Please note: ${phrase.replaceAll('*', '')}, thank you.`), phrase)
  for (const { any, with: others } of TELLING_WORDS.flatMap(({ pairs }) => pairs))
    for (const one of any)
      for (const other of others) {
        const [a, b] = [one, other].map((words) => words.replaceAll('*', ''))
        t.ok(tellsTooMuch(`${a} ${b}`), `${a} ${b}`)
        t.ok(tellsTooMuch(`${b}, as we said, ${a}`), `${b} … ${a}`)
      }
})

t.test('words that are far apart make no pair', async (t) => {
  t.ok(tellsTooMuch('We report it to the police.'))
  t.notOk(tellsTooMuch('We report it to you. Your brother, who lives with you in Berlin, works for the police.'))
})

t.test('the work grows with the length of a text, whatever stands in it', async (t) => {
  const texts = ['report the invoice to your branch now ', 's ', 'su', 'ab cd ', 'police report ', '1 ', 'l\u0301 ']
  for (const text of texts) {
    const { user: before } = process.cpuUsage()
    tellsTooMuch(text.repeat(4_000).slice(0, 4_000))
    const tookMs = (process.cpuUsage().user - before) / 1_000
    t.ok(tookMs < 5_000, `${text}: ${tookMs} ms of CPU`)
  }
})

t.test('the refusal names the field, and not the word', async (t) => {
  t.doesNotThrow(() => refuseTippingOff({ '/reason': null, '/text': undefined, '/note': 'Please send the invoice.' }))
  try {
    refuseTippingOff({ '/reason': 'Please send the invoice.', '/text': 'A suspicion.' })
    t.fail('not refused')
  } catch (error) {
    t.match((error as ProblemError).problem, { slug: 'tipping_off', extra: { field: '/text' } })
    t.notMatch((error as ProblemError).problem.detail, /suspicion/)
  }
})
