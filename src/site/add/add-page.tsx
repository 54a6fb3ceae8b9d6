import type { VNode } from 'preact';
import { findDefaultLocale } from '../../bot/record.ts';
import type { BotRecord } from '../../bot/schema-types.ts';
import { useLanguage } from '../language/page-language.tsx';
import { assets } from '../page/assets.ts';
import { withoutBidiControls } from '../page/bidi.ts';
import { Layout, type PageProps } from '../page/layout.tsx';
import { fieldGroups, listFields, type FieldTexts } from './add-fields.ts';
import { Field } from './field.tsx';
import type { Form } from './forms.ts';
import { NextStep, Outcome, type OutcomeProps } from './outcome.tsx';

export interface AddPageProps extends PageProps, OutcomeProps, Form {
  readonly texts: FieldTexts;
  /** Whether the form was sent, so that its errors are shown. */
  readonly sent: boolean;
}

/** A form that makes a file of the catalogue: for a new bot, a change or a translation. */
export function AddPage(props: AddPageProps): VNode {
  const { kind, site, viewer, texts, languages, entry, sent, action, base, listed } = props;
  const { t, text, href } = useLanguage();
  const faults = sent ? entry.faults : {};
  const failed = Object.keys(faults).length > 0;
  const name = listed === undefined ? '' : withoutBidiControls(findMainName(listed));
  const title = text(titles[kind], { name });
  return (
    <Layout
      current={kind === 'add' ? '/add' : undefined}
      site={site}
      viewer={viewer}
      title={failed ? text('add.errorTitle', { title }) : title}
      script={assets.addScript.path}
    >
      <div class="narrow stack">
        <h1>{t(titles[kind], { name })}</h1>
        <p class="muted">{t(introductions[kind])}</p>
        {failed && <Summary {...props} />}
      </div>
      <form class="add" method="post" action={href(action)} noValidate>
        <input type="hidden" name="base" value={base} />
        <div class="columns">
          <div class="fields">
            {fieldGroups[kind].map((group) => (
              <div key={group[0]?.name} class={group.length === 2 ? 'pair' : 'switches'}>
                {group.map((field) => (
                  <Field
                    key={field.name}
                    {...{ field, languages }}
                    text={texts[field.name]}
                    fault={faults[field.name]}
                  />
                ))}
              </div>
            ))}
          </div>
          <section
            id="outcome"
            class="outcome panel"
            aria-labelledby="outcome-title"
            tabIndex={-1}
            autofocus={sent && !failed}
          >
            <Outcome {...props} />
          </section>
        </div>
        <div class="progress">
          <button type="submit">{t('add.check')}</button>
          <p id="progress" role="status">
            <Progress {...props} />
          </p>
          <div id="next">
            <NextStep {...props} />
          </div>
        </div>
      </form>
    </Layout>
  );
}

const titles = {
  add: 'layout.add',
  edit: 'edit.title',
  'edit-translation': 'edit.title',
  translate: 'translate.title',
} as const;

const introductions = {
  add: 'add.introduction',
  edit: 'edit.introduction',
  'edit-translation': 'edit.introduction',
  translate: 'translate.introduction',
} as const;

function findMainName(bot: BotRecord): string {
  return bot.contents[findDefaultLocale(bot)]?.name ?? '';
}

/** What is left to do, in one line. */
function Progress({ before, entry }: AddPageProps): VNode {
  const { missing, faults, text } = entry;
  const { t } = useLanguage();
  const count = Object.keys(faults).length;
  if (missing > 0) return <>{t('add.toGo', { count: missing })}</>;
  if (count === 0 && text === before) return <>{t('edit.unchanged')}</>;
  return <>{count > 0 ? t('add.faults', { count }) : t('add.ready')}</>;
}

/** Every error with a link to its field. It has the focus when the page opens. */
function Summary({ kind, entry: { faults } }: AddPageProps): VNode {
  const { t } = useLanguage();
  const wrong = listFields(kind).flatMap(({ name }) => {
    const fault = faults[name];
    return fault === undefined ? [] : [{ name, ...fault }];
  });
  return (
    <section id="errors" class="notice bad" aria-labelledby="errors-title" tabIndex={-1} autofocus>
      <h2 id="errors-title">{t('add.faults', { count: wrong.length })}</h2>
      <ul>
        {wrong.map(({ name, key, values }) => (
          <li key={name}>
            <a href={`#${name}`}>
              {t(`field.${name}`)}: {t(key, values)}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
