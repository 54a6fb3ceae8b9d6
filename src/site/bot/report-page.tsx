import type { VNode } from 'preact';
import type { BotId } from '../../bot/id.ts';
import { maxReportLength, reportReasons } from '../../proposals/visitor-reports.ts';
import { useLanguage } from '../language/page-language.tsx';
import { Layout, type PageProps } from '../page/layout.tsx';
import { BackLink } from '../page/links.tsx';

export interface ReportPageProps extends PageProps {
  readonly bot: { readonly id: BotId; readonly name: string };
  /** Whether the report lacks the text that its reason needs, or was sent. */
  readonly state: 'empty' | 'lacks-text' | 'sent';
}

/** A field that is hidden from people: what fills it in is a program. */
export const trapField = 'subject';

/** The form with which a visitor reports a bot to the maintainers, or the thanks for it. */
export function ReportPage({ site, viewer, bot, state }: ReportPageProps): VNode {
  const { t, text, href } = useLanguage();
  const title = text('report.title', { bot: bot.name });
  return (
    <Layout site={site} viewer={viewer} title={title} isUnlisted>
      <div class="narrow stack">
        <BackLink path={`/bots/${bot.id}`} name={bot.name} />
        <h1>{state === 'sent' ? t('report.thanks') : t('report.title', { bot: bot.name })}</h1>
        <p class="muted">{t(state === 'sent' ? 'report.sent' : 'report.introduction')}</p>
        {state !== 'sent' && (
          <form class="fields" method="post" action={href(`/bots/${bot.id}/report`)}>
            {state === 'lacks-text' && (
              <p class="notice bad" role="alert">
                {t('report.noText')}
              </p>
            )}
            <div class="field">
              <label for="reason">{t('report.reason')}</label>
              <select id="reason" name="reason" required>
                <option value="">{text('add.choose')}</option>
                {reportReasons.map((reason) => (
                  <option key={reason} value={reason} selected={state === 'lacks-text' && reason === 'other'}>
                    {text(`report.reason.${reason}`)}
                  </option>
                ))}
              </select>
            </div>
            <div class="field">
              <label for="text">{t('report.text')}</label>
              <textarea
                id="text"
                name="text"
                dir="auto"
                maxLength={maxReportLength}
                aria-describedby="hint"
              />
              <p class="hint" id="hint">
                {t('report.hint', { max: maxReportLength })}
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
        )}
      </div>
    </Layout>
  );
}
