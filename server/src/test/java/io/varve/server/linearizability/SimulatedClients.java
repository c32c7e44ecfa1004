package io.varve.server.linearizability;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

import io.varve.server.linearizability.StoreState.Step;

/**
 * Creates histories of clients whose operations overlap at random, on a sequential store, or on one with a flaw.
 * Confined to the test's thread: time is a count.
 */
final class SimulatedClients {
    /** The error of the simulated store. */
    enum Flaw {
        NONE,
        /** INCR reads at one time and writes at another. */
        LOST_UPDATE,
        /** GET answers what was there some changes ago. */
        STALE_READ,
        /** Others come in between the commands of a transaction. */
        TORN_TRANSACTION,
        /** EXEC does not check whether a watched key has changed. */
        BLIND_EXEC
    }

    private static final int STALE_STATES = 3;

    private final SplittableRandom random;
    private final Flaw flaw;
    private final List<StoreState> states = new ArrayList<>(List.of(StoreState.EMPTY));
    private final List<Operation> history = new ArrayList<>();
    private long time;

    SimulatedClients(SplittableRandom random, Flaw flaw) {
        this.random = random;
        this.flaw = flaw;
    }

    /** One client in the midst of its script. */
    private static final class Progress {
        private final int client;
        private final List<Request> script;
        private int request;
        private long invokedAt = -1;
        private List<String> replies = new ArrayList<>();
        private StoreState read = StoreState.EMPTY;

        Progress(int client, List<Request> script) {
            this.client = client;
            this.script = script;
        }
    }

    /** Has all scripts done, step by step of a client drawn at random. */
    List<Operation> run(List<List<Request>> scripts) {
        List<Progress> running = new ArrayList<>();
        for (int i = 0; i < scripts.size(); i++) {
            running.add(new Progress(i, scripts.get(i)));
        }
        while (!running.isEmpty()) {
            Progress one = running.get(random.nextInt(running.size()));
            time++;
            advance(one);
            if (one.request == one.script.size()) {
                running.remove(one);
            }
        }
        return history;
    }

    private StoreState now() {
        return states.getLast();
    }

    private void advance(Progress one) {
        Request request = one.script.get(one.request);
        int effects = flaw == Flaw.TORN_TRANSACTION && request.transaction() ? request.calls().size() : 1;
        if (one.invokedAt < 0) {
            one.invokedAt = time;
            one.read = now();
        } else if (one.replies.size() < effects) {
            one.replies.add(effect(one, request));
        } else {
            String reply = effects > 1 ? "[" + String.join(", ", one.replies) + "]" : one.replies.getFirst();
            history.add(new Operation(one.client, request, reply, one.invokedAt, time));
            one.request++;
            one.invokedAt = -1;
            one.replies = new ArrayList<>();
        }
    }

    private String effect(Progress one, Request request) {
        List<String> call = request.calls().getFirst();
        if (flaw == Flaw.LOST_UPDATE && call.getFirst().equals("INCR") && !request.transaction()) {
            String reply = one.read.apply(one.client, request).reply();
            if (reply.startsWith(":")) {
                apply(one.client, Request.of("SET", call.get(1), reply.substring(1)));
            }
            return reply;
        }
        if (flaw == Flaw.STALE_READ && call.getFirst().equals("GET")) {
            return states.get(Math.max(0, states.size() - STALE_STATES)).apply(one.client, request).reply();
        }
        if (flaw == Flaw.TORN_TRANSACTION && request.transaction()) {
            return apply(one.client, new Request(List.of(request.calls().get(one.replies.size())), false));
        }
        // Another client watches nothing.
        return apply(flaw == Flaw.BLIND_EXEC && request.transaction() ? -1 : one.client, request);
    }

    private String apply(int client, Request request) {
        Step step = now().apply(client, request);
        states.add(step.after());
        return step.reply();
    }
}
