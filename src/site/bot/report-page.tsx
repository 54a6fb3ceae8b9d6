import type { VNode } from 'preact';
import type { BotId } from '../../bot/id.ts';
import { maxReportLength, reportReasons } from '../../proposals/visitor-reports.ts';
import { useLanguage } from '../language/page-language.tsx';
import { Layout, type PageProps } from '../page/layout.tsx';

/** Why a report was not sent. */
export type ReportFault = 'report.noReason' | 'report.noText' | 'report.tooLong' | 'error.limited.text';

/** What is filled in, and why it was not sent; null where that was not tried. */
export interface ReportForm {
  readonly reason: string;
  readonly text: string;
  readonly fault: ReportFault | null;
}

export interface ReportPageProps extends PageProps {
  readonly bot: { readonly id: BotId; readonly name: string };
  /** Null where the report was sent. */
  readonly form: ReportForm | null;
}

/** A field that is hidden from people: what fills it in is a program. */
export const trapField = 'subject';

/** The form with which a visitor reports a bot to the maintainers, or the thanks for it. */
export function ReportPage({ site, viewer, bot, form }: ReportPageProps): VNode {
  const { t, text, href } = useLanguage();
  const name = { bot: bot.name };
  return (
    <Layout site={site} viewer={viewer} title={text('report.title', name)} isUnlisted>
      <div class="narrow stack">
        <p>
          <a href={href(`/bots/${bot.id}`)}>
            ← <bdi>{bot.name}</bdi>
          </a>
        </p>
        <h1>{form ? t('report.title', name) : t('report.thanks')}</h1>
        <p class={form ? 'muted' : undefined}>{t(form ? 'report.introduction' : 'report.sent')}</p>
        {form && <Fields path={`/bots/${bot.id}/report`} {...form} />}
      </div>
    </Layout>
  );
}

function Fields({ path, reason, text, fault }: ReportForm & { readonly path: string }): VNode {
  const { t, text: inLanguage, href } = useLanguage();
  const max = { max: maxReportLength };
  return (
    <form class="fields" method="post" action={href(path)}>
      {fault && (
        <p class="notice bad" role="alert">
          {t(fault, max)}
        </p>
      )}
      <div class="field">
        <label for="reason">{t('report.reason')}</label>
        <select id="reason" name="reason" required>
          <option value="">{inLanguage('add.choose')}</option>
          {reportReasons.map((one) => (
            <option key={one} value={one} selected={one === reason}>
              {inLanguage(`report.reason.${one}`)}
            </option>
          ))}
        </select>
      </div>
      <div class="field">
        <label for="text">{t('report.text')}</label>
        <textarea id="text" name="text" dir="auto" maxLength={maxReportLength} aria-describedby="hint">
          {`\n${text}`}
        </textarea>
        <p class="hint" id="hint">
          {t('report.hint', max)}
        </p>
      </div>
      <p hidden>
        <label for={trapField}>{t('report.leaveEmpty')}</label>
        <input id={trapField} name={trapField} tabIndex={-1} autocomplete="off" />
      </p>
      <p class="actions">
        <button type="submit">{t('report.send')}</button>
      </p>
    </form>
  );
}
