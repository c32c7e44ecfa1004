package io.varve.server;

import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.Supplier;

import static io.varve.server.ScriptStep.Comparison.EXACT;
import static io.varve.server.ScriptStep.Comparison.SHAPE;

/**
 * Random questions to the server, about itself, its client and what lies behind a key. Where the answer is each server's own, its shape is
 * compared; so it is where the answer is such a one without the last word. Confined to the test thread.
 *
 * <p>None of them changes what another command answers, but for the client's name.
 */
final class RandomServerCommands {
    private static final String NOBODY = "999999999999";

    private final SplittableRandom random;
    private final Supplier<String> keys;
    private final CommandSink sink;
    private final Consumer<ScriptStep> asItIs;

    RandomServerCommands(SplittableRandom random, Supplier<String> keys, CommandSink sink,
            Consumer<ScriptStep> asItIs) {
        this.random = random;
        this.keys = keys;
        this.sink = sink;
        this.asItIs = asItIs;
    }

    private String one(String... choices) {
        return choices[random.nextInt(choices.length)];
    }

    private String key() {
        return keys.get();
    }

    private void exact(String... words) {
        sink.add(EXACT, words);
    }

    private void shape(String... words) {
        sink.add(SHAPE, words);
    }

    void any() {
        switch (random.nextInt(9)) {
            case 0, 1 -> behindKey();
            case 2 -> server();
            case 3 -> connection();
            case 4, 5 -> client();
            case 6 -> observation();
            case 7 -> configuration();
            default -> catalogue();
        }
    }

    private void behindKey() {
        switch (random.nextInt(9)) {
            case 0, 1 -> exact("OBJECT", one("FREQ", "freq"), key());
            case 2, 3 -> shape("OBJECT", "IDLETIME", key());
            case 4 -> shape("OBJECT", "REFCOUNT", key());
            case 5 -> shape(one("OBJECT", "MEMORY"), "HELP");
            case 6, 7 -> memory();
            default -> exact("OBJECT", one("nosuch", "", "ENCODINGS"), key());
        }
    }

    private void memory() {
        switch (random.nextInt(4)) {
            case 0 -> shape("MEMORY", "USAGE", key());
            case 1 -> shape("MEMORY", "USAGE", key(), "SAMPLES", one("0", "1", "100", "-1", "abc"));
            case 2 -> shape("MEMORY", "USAGE", key(), one("SAMPLES", "foo"));
            default -> shape("MEMORY", one("STATS", "DOCTOR", "MALLOC-STATS", "PURGE"));
        }
    }

    private void server() {
        switch (random.nextInt(9)) {
            case 0 -> shape("TIME");
            case 1 -> exact("ROLE");
            case 2 -> shape("LASTSAVE");
            case 3, 4 -> exact("WAIT", one("0", "-1", "1", "abc"), one("1", "2", "-1", "abc", "1.5"));
            case 5 -> exact("MODULE", "LIST");
            case 6 -> exact("FUNCTION", "FLUSH");
            case 7 -> exact("FUNCTION", "FLUSH", one("ASYNC", "sync", "foo", ""));
            default -> shape("INFO", one("server", "clients", "stats", "commandstats", "nosuch", "all"));
        }
    }

    private void connection() {
        switch (random.nextInt(8)) {
            case 0, 1 -> exact("ECHO", one("text", "", "\0\r\n", "x".repeat(300)));
            case 2 -> exact("PING", one("text", "", "\0\r\n"));
            case 3 -> exact("PING");
            case 4 -> shape("HELLO");
            case 5 -> shape("HELLO", one("1", "4", "-1", "abc", ""));
            // MONITOR there shows the password if there is a word too many.
            case 6 -> asItIs.accept(ScriptStep.exact("AUTH", one("secret", "")));
            default -> asItIs.accept(ScriptStep.exact("AUTH", one("default", "nobody"), one("secret", "")));
        }
    }

    private void client() {
        switch (random.nextInt(15)) {
            case 0, 1 -> exact("CLIENT", "SETNAME", one("me", "", "a b", "\n", "worker-7"));
            case 2 -> exact("CLIENT", "GETNAME");
            case 3 -> shape("CLIENT", one("ID", "INFO", "LIST", "HELP"));
            case 4 -> shape("CLIENT", "LIST", "TYPE", one("normal", "pubsub", "replica", "foo"));
            case 5 -> shape("CLIENT", "LIST", "ID", one(NOBODY, "1", "abc", "-1"));
            case 6 -> exact("CLIENT", "NO-EVICT", one("on", "OFF", "foo"));
            case 7 -> exact("CLIENT", "REPLY", one("ON", "on", "foo"));
            case 8 -> exact("CLIENT", "UNBLOCK", one(NOBODY, "abc", "1.5"));
            case 9 -> exact("CLIENT", "UNBLOCK", NOBODY, one("TIMEOUT", "error", "foo"));
            case 10 -> exact("CLIENT", "KILL", one("192.0.2.1:5", "", "nosuch"));
            case 11 -> exact("CLIENT", "KILL", one("ID", "id"), one(NOBODY, "0", "-1", "abc"));
            case 12 -> exact("CLIENT", "KILL", one("ADDR", "LADDR", "TYPE", "USER", "SKIPME"), "nosuch");
            case 13 -> shape("CLIENT", "ID");
            default -> exact("CLIENT", one("GETREDIR", "TRACKINGINFO", "nosuch"));
        }
    }

    private void observation() {
        switch (random.nextInt(10)) {
            case 0 -> shape("SLOWLOG", one("LEN", "GET", "HELP"));
            case 1 -> shape("SLOWLOG", "GET", one("0", "1", "-1", "1000"));
            case 2 -> shape("SLOWLOG", "GET", one("-2", "abc", "", "1.5"));
            case 3 -> exact("SLOWLOG", "RESET");
            case 4 -> exact("LATENCY", one("LATEST", "RESET"));
            case 5 -> exact("LATENCY", one("HISTORY", "GRAPH"), one("command", "nosuch", ""));
            case 6 -> exact("LATENCY", "RESET", one("command", "nosuch"), "fork");
            case 7 -> shape("LATENCY", one("DOCTOR", "HELP"));
            case 8 -> shape("LATENCY", "HISTOGRAM", one("get", "client|id", "set"));
            default -> shape("LATENCY", "HISTOGRAM", "nosuch");
        }
    }

    private void configuration() {
        switch (random.nextInt(7)) {
            case 0 -> exact("CONFIG", "GET", one("hll-sparse-max-bytes", "nosuch", "", "appendon*", "DATABASES"));
            case 1 -> exact("CONFIG", "GET", "lfu-log-factor", "nosuch");
            case 2 -> exact("CONFIG", "SET", one("nosuch", "", "slowlog-max-le"), "1");
            case 3 -> exact("CONFIG", "SET", "slowlog-max-len", "128", "slowlog-max-len", "128");
            case 4, 5 -> exact("CONFIG", "SET", "slowlog-max-len", "128");
            default -> {
                exact("CONFIG", "REWRITE");
                shape("CONFIG", "HELP");
            }
        }
    }

    private void catalogue() {
        switch (random.nextInt(10)) {
            case 0 -> shape("COMMAND", one("COUNT", "HELP"));
            case 1 -> shape("COMMAND", one("INFO", "DOCS"), one("get", "HSET", "client|id"));
            case 2 -> shape("COMMAND", one("INFO", "DOCS"), one("nosuch", "client|nosuch"));
            case 3 -> shape("COMMAND", "LIST", "FILTERBY", "PATTERN", one("h*", "nosuch", "client|*"));
            case 4 -> exact("COMMAND", "LIST", "FILTERBY", one("MODULE", "foo"), "nosuch");
            case 5, 6 -> exact("COMMAND", one("GETKEYS", "GETKEYSANDFLAGS"), "MSET", key(), "1", key(), "2");
            case 7 -> exact("COMMAND", one("GETKEYS", "GETKEYSANDFLAGS"), "ZUNIONSTORE", key(), "2", key(), key());
            case 8 -> exact("COMMAND", "GETKEYS", one("PING", "GET", "nosuch", "SELECT"), "1");
            default -> {
                exact("ACL", "WHOAMI");
                shape("COMMAND");
                shape("PUBSUB", "HELP");
            }
        }
    }
}
