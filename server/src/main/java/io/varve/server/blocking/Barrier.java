package io.varve.server.blocking;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * Lets commands that look at keys, or change them, without naming them wait until nothing is promised, and holds up meanwhile what
 * would promise more: else there might always be something that is. Guarded by the lock of {@link BlockedKeys}.
 *
 * <p>Both sides take turns, so that neither waits for ever. While commands stand in front of the barrier it is down: who names a key
 * that is waited for is held up. When all of them have run it goes up, and those that were held up run before it comes down again
 * for the commands that have come since.
 *
 * <p>Those that look run beside each other, as soon as nothing is promised. Those that change run one at a time, as one of them may
 * cause calls itself (SWAPDB, EXEC), and whoever is called looks before the next one runs.
 */
final class Barrier {
    /** Those for which the barrier is down. */
    private final Set<Pass> inFront = new LinkedHashSet<>();
    /** Those that came too late for that. */
    private final Set<Pass> next = new LinkedHashSet<>();
    private final Set<Pass> heldUp = new LinkedHashSet<>();
    /** Those that were held up and have not run since. INVARIANT: if there are any, the barrier is up. */
    private final Set<Pass> letGo = new LinkedHashSet<>();
    /** Which of those in front changes something at this moment. */
    private @Nullable Pass changing;

    /** Whether who names a key that is waited for is held up. */
    boolean isDown() {
        return !inFront.isEmpty();
    }

    /**
     * Whether a command may look at all keys, or change them: if not, it waits in front. One that changes has to {@link #leave} when
     * it has, one that looks has no place any more.
     */
    boolean admits(Pass pass, boolean nothingPromised) {
        if (pass.kind() == Pass.Kind.LOOK && nothingPromised) {
            leave(pass, true);
            return true;
        }
        enter(pass);
        if (pass.kind() == Pass.Kind.LOOK || !nothingPromised || !inFront.contains(pass)
                || changing != null && !pass.equals(changing)) {
            if (pass.equals(changing)) {
                // It was admitted before, and has changed nothing: it waits again.
                changing = null;
            }
            return false;
        }
        changing = pass;
        return true;
    }

    private void enter(Pass pass) {
        if (inFront.contains(pass) || next.contains(pass)) {
            return;
        }
        // Who only looks promises nothing: it makes nobody wait for longer who stands in front.
        boolean mayJoin = inFront.isEmpty() ? letGo.isEmpty() : pass.kind() == Pass.Kind.LOOK;
        (mayJoin ? inFront : next).add(pass);
    }

    /** A command that would have somebody called waits until the barrier is up. */
    void holdUp(Pass pass) {
        letGo.remove(pass);
        heldUp.add(pass);
    }

    /** A command has run, or will not. Without effect where it has no place. */
    void leave(Pass pass, boolean nothingPromised) {
        if (pass.equals(changing)) {
            changing = null;
        }
        // It is in one of them, or in none.
        boolean left = inFront.remove(pass) || next.remove(pass) || heldUp.remove(pass) || letGo.remove(pass);
        if (!left) {
            return;
        }
        if (inFront.isEmpty()) {
            List<Pass> first = List.copyOf(heldUp);
            heldUp.clear();
            letGo.addAll(first);
            if (letGo.isEmpty()) {
                inFront.addAll(next);
                next.clear();
            }
            first.forEach(Pass::wake);
        }
        if (nothingPromised) {
            nothingIsPromised();
        }
    }

    /** Nothing is promised (any more): those in front may run. */
    void nothingIsPromised() {
        boolean mayChange = changing == null;
        for (Pass pass : List.copyOf(inFront)) {
            boolean looks = pass.kind() == Pass.Kind.LOOK;
            if (looks || mayChange) {
                pass.wake();
            }
            mayChange &= looks;
        }
    }
}
