/** The query of a report on a bulk payment: its format. */
import Type from 'typebox'
import { REPORT_FORMATS } from './report.ts'
import { Words } from '../contract/primitives.ts'

export const BulkReportQuery = Type.Object({
  format: Type.Optional(
    Words('BulkReportFormat', REPORT_FORMATS, '`pain002` is pain.002.001.03; the default is `csv`.'),
  ),
})
