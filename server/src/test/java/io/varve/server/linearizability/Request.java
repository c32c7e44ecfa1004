package io.varve.server.linearizability;

import java.util.ArrayList;
import java.util.List;

/**
 * A client's request: one command, or MULTI, several, and EXEC. Immutable.
 *
 * @param calls the commands, each in words
 * @param transaction whether they form a transaction
 */
public record Request(List<List<String>> calls, boolean transaction) {
    public Request {
        calls = List.copyOf(calls);
    }

    /** One command. */
    public static Request of(String... words) {
        return new Request(List.of(List.of(words)), false);
    }

    /** The keys that are named. */
    List<String> keys() {
        List<String> keys = new ArrayList<>();
        for (List<String> call : calls) {
            switch (call.getFirst()) {
                case "MGET" -> keys.addAll(call.subList(1, call.size()));
                case "MSET" -> {
                    for (int i = 1; i < call.size(); i += 2) {
                        keys.add(call.get(i));
                    }
                }
                case "RPOPLPUSH" -> keys.addAll(call.subList(1, 3));
                default -> keys.add(call.get(1));
            }
        }
        return keys;
    }

    boolean isWatch() {
        return !transaction && calls.getFirst().getFirst().equals("WATCH");
    }

    @Override
    public String toString() {
        List<String> texts = calls.stream().map(call -> String.join(" ", call)).toList();
        return transaction ? "MULTI; " + String.join("; ", texts) + "; EXEC" : texts.getFirst();
    }
}
