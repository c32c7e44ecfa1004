package io.varve.server.differential.random;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;

/** Removes from a failing script all steps that the failure does not need. Immutable: static methods only. */
public final class ScriptShrinker {
    /** The result of {@link Run#failingStep} for a script that does not fail. */
    public static final int NONE = -1;
    private static final int MAX_RUNS = 600;

    /**
     * Runs a script from the beginning.
     *
     * @param <S> its steps
     */
    @FunctionalInterface
    public interface Run<S> {
        /** The step at which it fails, or {@link ScriptShrinker#NONE}. */
        int failingStep(List<S> script) throws IOException;
    }

    private ScriptShrinker() {}

    /**
     * A shorter script that fails at its last step; with luck the shortest.
     *
     * @param failing     fails
     * @param failingStep at this step
     */
    public static <S> List<S> shrink(List<S> failing, int failingStep, Run<S> run) throws IOException {
        List<S> best = new ArrayList<>(failing.subList(0, failingStep + 1));
        int runs = 0;
        for (int chunk = Math.max(1, best.size() / 2); runs < MAX_RUNS;) {
            boolean smaller = false;
            for (int from = 0; from < best.size() - 1 && runs < MAX_RUNS;) {
                List<S> candidate = new ArrayList<>(best.subList(0, from));
                candidate.addAll(best.subList(Math.min(best.size() - 1, from + chunk), best.size()));
                runs++;
                int still;
                try {
                    still = run.failingStep(candidate);
                } catch (SocketTimeoutException mute) {
                    // Without the omitted steps a client may get no reply: the result found so far is returned.
                    return best;
                }
                if (still == NONE) {
                    from += chunk;
                } else {
                    best = new ArrayList<>(candidate.subList(0, still + 1));
                    smaller = true;
                }
            }
            if (chunk == 1 && !smaller) {
                break;
            }
            chunk = Math.max(1, chunk / 2);
        }
        return best;
    }
}
