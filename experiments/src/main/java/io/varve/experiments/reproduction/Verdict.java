package io.varve.experiments.reproduction;

import java.util.List;

/** What a comparison with the paper yields. Immutable. */
public enum Verdict {
    AGREES("agrees", "agree"), DIFFERS("differs", "differ"), CANNOT_BE_SHOWN("cannot be shown here",
            "cannot be shown here"), NOT_RUN("not run", "not run");

    /** The rule that yields a verdict, for readers of the report. */
    static final String RULE = "Each entry lists the paper's statements with the limits within which a measurement "
            + "agrees: the printed number with a stated deviation, the printed range, or the order that the text "
            + "states. An entry agrees if all of its measured statements hold, and differs if one does not. It cannot "
            + "be shown here if no run yields any of its numbers, or for the reason that it gives.";

    private final String words;
    private final String ofSeveral;

    Verdict(String words, String ofSeveral) {
        this.words = words;
        this.ofSeveral = ofSeveral;
    }

    /** The verdict as the report prints it. */
    public String words() {
        return words;
    }

    /** The verdict on several artefacts. */
    String ofSeveral() {
        return ofSeveral;
    }

    static Verdict of(Artefact artefact, List<Finding> findings, int completeRuns) {
        if (completeRuns == 0) {
            return NOT_RUN;
        }
        if (artefact.cannot() != null || findings.stream().noneMatch(Finding::isMeasured)) {
            return CANNOT_BE_SHOWN;
        }
        return findings.stream().filter(Finding::isMeasured).allMatch(Finding::holds) ? AGREES : DIFFERS;
    }
}
