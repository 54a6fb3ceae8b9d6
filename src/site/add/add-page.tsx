import type { VNode } from 'preact';
import { findDefaultLocale } from '../../bot/record.ts';
import type { ListedBot } from '../front/card.tsx';
import { useLanguage } from '../language/page-language.tsx';
import type { Html } from '../markdown/markdown.ts';
import { assets } from '../page/assets.ts';
import { withoutBidiControls } from '../page/bidi.ts';
import { Layout, type PageProps } from '../page/layout.tsx';
import { Field } from './field.tsx';
import type { FieldTexts } from './fields.ts';
import type { FormFile } from './form-file.ts';
import type { Form } from './forms.ts';
import { NextStep, Outcome } from './outcome.tsx';

export interface AddPageProps extends PageProps {
  readonly form: Form;
  readonly texts: FieldTexts;
  readonly file: FormFile;
  readonly preview: ListedBot;
  /** The page of the file. */
  readonly html: Html;
  /** Whether the form was sent, so that its errors are shown. */
  readonly isSent: boolean;
  /** Whether the file has changed since the form was opened. */
  readonly isStale: boolean;
}

/** A form that makes a file of the catalogue: for a new bot, a change or a translation. */
export function AddPage(props: AddPageProps): VNode {
  const { site, viewer, form, texts, file, isSent } = props;
  const { kind, groups, languages, action, base, listed } = form;
  const { t, text, href } = useLanguage();
  const faults = isSent ? file.faults : {};
  const failed = Object.keys(faults).length > 0;
  const { name = '' } = listed?.contents[findDefaultLocale(listed)] ?? {};
  const title = kind === 'add' ? 'layout.add' : (`${kind}.title` as const);
  const named = { name: withoutBidiControls(name) };
  return (
    <Layout
      current={kind === 'add' ? '/add' : undefined}
      site={site}
      viewer={viewer}
      title={failed ? text('add.errorTitle', { title: text(title, named) }) : text(title, named)}
      script={assets.addScript.path}
    >
      <div class="narrow stack">
        <h1>{t(title, named)}</h1>
        <p class="muted">{t(`${kind}.introduction`)}</p>
        {failed && <Summary {...props} />}
      </div>
      <form class="add" method="post" action={href(action)} noValidate>
        <input type="hidden" name="base" value={base} />
        <div class="columns">
          <div class="fields">
            {groups.map((group) => (
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
            autofocus={isSent && !failed}
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

/** What is left to do, in one line. */
function Progress({ form, file }: AddPageProps): VNode {
  const { t } = useLanguage();
  const count = Object.keys(file.faults).length;
  if (file.missing > 0) return <>{t('add.toGo', { count: file.missing })}</>;
  if (count === 0 && file.text === form.source) return <>{t('edit.unchanged')}</>;
  return <>{count > 0 ? t('add.faults', { count }) : t('add.ready')}</>;
}

/** Every error with a link to its field. It has the focus when the page opens. */
function Summary({ form, file: { faults } }: AddPageProps): VNode {
  const { t } = useLanguage();
  const wrong = form.groups.flat().flatMap(({ name }) => {
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
