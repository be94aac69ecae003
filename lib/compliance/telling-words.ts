/**
 * The words that would tell a customer of a suspicion, a sanction, a report to an authority or an investigation. Data
 * alone; `tipping-off.ts` compares. Staff may not tell a customer of these (Directive (EU) 2015/849 art. 39 and the
 * national laws that follow it).
 *
 * A phrase is one or more words. `word*` stands for all words that begin so, `*word*` for all that contain it. Accents,
 * case and spelling tricks do not matter: phrases and texts are folded alike. German is listed with `ae` as well.
 */

/** A word of each list, in any order, within a few words of each other. */
export interface TellingPair {
  readonly any: readonly string[]
  readonly with: readonly string[]
}

export interface TellingWords {
  readonly phrases: readonly string[]
  readonly pairs: readonly TellingPair[]
}

/** The date of the lists, `YYYY-MM-DD`: change it with them. */
export const TELLING_WORDS_DATE = '2026-11-23'

const ENGLISH: TellingWords = {
  phrases: [
    ...['suspic*', 'suspect*', 'red flag*'],
    ...['launder', 'launders', 'laundered', 'laundering*', 'launderer*', 'money laund*', 'aml', 'money mule*'],
    ...['proceeds of crime', 'financial crime*', 'terroris*', 'financing of terror*', 'terror financ*'],
    ...[
      'sanction*',
      'ofac',
      'ofsi',
      'embargo*',
      'asset freez*',
      'freezing order*',
      'frozen asset*',
      'restraint order*',
    ],
    ...['watchlist*', 'watch list*', 'blacklist*', 'black list*', 'wanted list*'],
    ...['name screening', 'screening hit*', 'screening match*', 'screening alert*', 'transaction monitoring'],
    ...['monitoring alert*', 'compliance hold*', 'compliance case*', 'compliance alert*', 'compliance review*'],
    ...['investigat*', 'law enforcement', 'financial intelligence', 'national crime agency', 'fincen'],
    ...['court order*', 'legal order*', 'production order*', 'order of the court', 'order of a court'],
    ...['request of the authorit*', 'order of the authorit*', 'instructed by the authorit*', 'asked by the authorit*'],
    ...['request of the police', 'asked by the police', 'tip off', 'tipped off', 'tipping off', 'confidential review*'],
  ],
  pairs: [
    {
      any: [
        'report*',
        'notif*',
        'inform',
        'informs',
        'informed',
        'informing',
        'disclos*',
        'refer',
        'referred',
        'alert*',
      ],
      with: [
        ...['authorities', 'competent authority', 'supervisory authority', 'regulatory authority'],
        ...['financial conduct authority', 'police', 'regulator', 'regulators', 'prosecut*', 'nca', 'fiu'],
      ],
    },
    { any: ['file', 'files', 'filed', 'filing', 'submit*', 'raise*', 'report*'], with: ['sar', 'sars', 'str', 'strs'] },
  ],
}

const GERMAN: TellingWords = {
  phrases: [
    ...['*verdacht*', '*verdaecht*', '*geldwasch*', '*geldwaesch*', '*terrorismus*', '*terrorfinanz*'],
    ...['*sanktion*', 'schwarze liste*', 'schwarzen liste*', 'sperrliste*', 'eingefroren*', 'vermogenseinfrier*'],
    ...['ermittlungen', 'ermittlungs*', 'ermittler*', 'untersuchung*', 'staatsanwalt*', 'strafanzeig*'],
    ...['strafverfahren*', 'strafverfolg*', 'kriminalamt*', 'bundeskriminalamt*', 'kriminalpolizei', 'geldwascherei*'],
  ],
  pairs: [
    {
      any: [
        ...['melden', 'meldet', 'meldung*', 'gemeldet', 'angezeigt', 'anzeige', 'benachrichtigt', 'informiert'],
        ...['unterrichtet', 'ubermittelt', 'uebermittelt', 'weitergeleitet', 'weitergegeben', 'mitgeteilt'],
      ],
      with: [
        ...['polizei', 'den behorden', 'die behorden', 'der behorde', 'die behorde', 'an behorden', 'den behoerden'],
        ...['die behoerden', 'der behoerde', 'die behoerde', 'an behoerden', 'aufsichtsbehord*', 'aufsichtsbehoerd*'],
        ...['bafin', 'finanzaufsicht', 'fiu'],
      ],
    },
    { any: ['ermittelt', 'ermitteln'], with: ['gegen', 'polizei', 'behorde*', 'behoerde*'] },
  ],
}

const FRENCH: TellingWords = {
  phrases: [
    ...['soupcon*', 'blanchiment*', 'lcb ft', 'tracfin', 'gel des avoirs', 'gel d avoirs', 'avoirs geles'],
    ...['liste noire', 'listes noires', 'liste de surveillance', 'liste de sanctions', 'financement du terror*'],
    ...['enquet*', 'perquisition*', 'mise en examen', 'autorites judiciaires', 'cellule de renseignement*'],
  ],
  pairs: [
    { any: ['blanchi', 'blanchir', 'blanchit', 'blanchie', 'blanchis'], with: ['argent', 'fonds', 'capitaux'] },
    {
      any: ['signal*', 'declar*', 'inform*', 'avise*', 'transmi*', 'denonc*', 'saisi*', 'prevenu*'],
      with: ['autorites', 'police', 'gendarmerie', 'parquet', 'procureur', 'regulateur*', 'acpr'],
    },
  ],
}

const SPANISH: TellingWords = {
  phrases: [
    ...['sospech*', 'blanqueo*', 'lavado de dinero', 'lavado de activos', 'lavado de capitales', 'lavar dinero'],
    ...['sancion*', 'lista negra', 'listas negras', 'congelacion de fondos', 'congelacion de activos', 'sepblac'],
    ...['investiga*', 'fiscalia*', 'financiacion del terror*', 'orden judicial'],
  ],
  pairs: [
    { any: ['blanquear', 'blanqueado', 'blanqueando'], with: ['dinero', 'capital', 'capitales', 'fondos'] },
    {
      any: ['inform*', 'comunic*', 'denunci*', 'notific*', 'report*', 'avis*', 'remit*'],
      with: ['autoridades', 'policia', 'guardia civil', 'juzgado*', 'regulador*'],
    },
  ],
}

/** The lists of all languages; each is compared with every text, because staff write in any of them. */
export const TELLING_WORDS: readonly TellingWords[] = [ENGLISH, GERMAN, FRENCH, SPANISH]

/** Ordinary phrases that contain a telling word; they are left out before the comparison. */
export const ORDINARY_PHRASES: readonly string[] = [
  ...['tax authorities', 'hong kong sar', 'macao sar'],
  ...['enquete de satisfaction', 'enquetes de satisfaction', 'blanchiment dentaire', 'blanchiment des dents'],
  ...['police d assurance', 'polices d assurance', 'numero de police', 'autorites fiscales'],
  ...['sin embargo', 'autoridades fiscales', 'autoridades tributarias'],
  ...['investigacion y desarrollo', 'investigacion de mercado*', 'investigacion cientifica', 'centro de investigacion'],
  ...['proyecto de investigacion', 'instituto de investigacion'],
]
