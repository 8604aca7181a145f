"""How many words should a list have? The table of docs/lexicons.md: top-1 by the frequency where wordfreq's are cut.

    python runs/lexicon_cuts.py [--data DIR]

Words that a list lacks count as misses: a longer list misses fewer and confuses more. Packaged encoder and constants,
swipes with a key distance up to 2. Cost: five minutes on two cores.
"""

from sets import SETS, arguments

from glissando.evaluation.evaluate import EvaluationOptions, evaluate
from glissando.lexicon import Lexicon

CUTS = (1e-8, 3e-8, 1e-7, 2e-7, 4e-7, 1e-6)

if __name__ == "__main__":
    data = arguments(__doc__ or "").parse_args().data
    print("| words with a frequency of at least | English words | val | direct touch | Russian words | JCUKEN |")
    print("|---|---|---|---|---|---|")
    for cut in CUTS:
        lexicons = {language: Lexicon.from_language(language, cut=cut) for language in ("en", "ru")}
        cells = {}
        for name, (corpus, language) in SETS.items():
            options = EvaluationOptions(lexicon=lexicons[language], layouts=data / "layouts", max_key_distance=2.0)
            metrics = evaluate([data / "swipes" / f"{corpus}.jsonl.gz"], options).overall
            cells[name] = f"{metrics.top1:.1f} ({metrics.oov:.1f} % missing)"
        counts = {language: f"{len(lexicon):,}" for language, lexicon in lexicons.items()}
        row = (f"{cut:.0e}", counts["en"], cells["val"], cells["direct"], counts["ru"], cells["ru"])
        print("| " + " | ".join(row) + " |", flush=True)
