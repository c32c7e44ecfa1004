package io.varve.server.differential.random;

import static io.varve.server.differential.random.ScriptStep.Comparison.SHAPE;

/**
 * Draws random queries to the server about itself, its client and the internals of a key. Confined to the test's
 * thread. If a reply is specific to each server, only its structure is compared, as for such a reply without its last
 * word.
 *
 * <p>None of them changes the reply of another command, except the client's name.
 */
final class RandomServerCommands extends CommandGenerator {
    private static final String NOBODY = "999999999999";

    RandomServerCommands(Source source) {
        super(source);
    }

    private String key() {
        return draw.key();
    }

    private void shape(String... words) {
        sink.add(SHAPE, words);
    }

    @Override
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
            case 0, 1 -> add("OBJECT", one("FREQ", "freq"), key());
            case 2, 3 -> shape("OBJECT", "IDLETIME", key());
            case 4 -> shape("OBJECT", "REFCOUNT", key());
            case 5 -> shape(one("OBJECT", "MEMORY"), "HELP");
            case 6, 7 -> memory();
            default -> add("OBJECT", one("nosuch", "", "ENCODINGS"), key());
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
            case 1 -> add("ROLE");
            case 2 -> shape("LASTSAVE");
            case 3, 4 -> add("WAIT", one("0", "-1", "1", "abc"), one("1", "2", "-1", "abc", "1.5"));
            case 5 -> add("MODULE", "LIST");
            case 6 -> add("FUNCTION", "FLUSH");
            case 7 -> add("FUNCTION", "FLUSH", one("ASYNC", "sync", "foo", ""));
            default -> shape("INFO", one("server", "clients", "stats", "commandstats", "nosuch", "all"));
        }
    }

    private void connection() {
        switch (random.nextInt(8)) {
            case 0, 1 -> add("ECHO", one("text", "", "\0\r\n", "x".repeat(300)));
            case 2 -> add("PING", one("text", "", "\0\r\n"));
            case 3 -> add("PING");
            case 4 -> shape("HELLO");
            case 5 -> shape("HELLO", one("1", "4", "-1", "abc", ""));
            // MONITOR there shows the password if there is a word too many.
            case 6 -> addAsIs("AUTH", one("secret", ""));
            default -> addAsIs("AUTH", one("default", "nobody"), one("secret", ""));
        }
    }

    private void client() {
        switch (random.nextInt(15)) {
            case 0, 1 -> add("CLIENT", "SETNAME", one("me", "", "a b", "\n", "worker-7"));
            case 2 -> add("CLIENT", "GETNAME");
            case 3 -> shape("CLIENT", one("ID", "INFO", "LIST", "HELP"));
            case 4 -> shape("CLIENT", "LIST", "TYPE", one("normal", "pubsub", "replica", "foo"));
            case 5 -> shape("CLIENT", "LIST", "ID", one(NOBODY, "1", "abc", "-1"));
            case 6 -> add("CLIENT", "NO-EVICT", one("on", "OFF", "foo"));
            case 7 -> add("CLIENT", "REPLY", one("ON", "on", "foo"));
            case 8 -> add("CLIENT", "UNBLOCK", one(NOBODY, "abc", "1.5"));
            case 9 -> add("CLIENT", "UNBLOCK", NOBODY, one("TIMEOUT", "error", "foo"));
            case 10 -> add("CLIENT", "KILL", one("192.0.2.1:5", "", "nosuch"));
            case 11 -> add("CLIENT", "KILL", one("ID", "id"), one(NOBODY, "0", "-1", "abc"));
            case 12 -> add("CLIENT", "KILL", one("ADDR", "LADDR", "TYPE", "USER", "SKIPME"), "nosuch");
            case 13 -> shape("CLIENT", "ID");
            default -> add("CLIENT", one("GETREDIR", "TRACKINGINFO", "nosuch"));
        }
    }

    private void observation() {
        switch (random.nextInt(10)) {
            case 0 -> shape("SLOWLOG", one("LEN", "GET", "HELP"));
            case 1 -> shape("SLOWLOG", "GET", one("0", "1", "-1", "1000"));
            case 2 -> shape("SLOWLOG", "GET", one("-2", "abc", "", "1.5"));
            case 3 -> add("SLOWLOG", "RESET");
            case 4 -> add("LATENCY", one("LATEST", "RESET"));
            case 5 -> add("LATENCY", one("HISTORY", "GRAPH"), one("command", "nosuch", ""));
            case 6 -> add("LATENCY", "RESET", one("command", "nosuch"), "fork");
            case 7 -> shape("LATENCY", one("DOCTOR", "HELP"));
            case 8 -> shape("LATENCY", "HISTOGRAM", one("get", "client|id", "set"));
            default -> shape("LATENCY", "HISTOGRAM", "nosuch");
        }
    }

    private void configuration() {
        switch (random.nextInt(7)) {
            case 0 -> add("CONFIG", "GET", one("hll-sparse-max-bytes", "nosuch", "", "appendon*", "DATABASES"));
            case 1 -> add("CONFIG", "GET", "lfu-log-factor", "nosuch");
            case 2 -> add("CONFIG", "SET", one("nosuch", "", "slowlog-max-le"), "1");
            case 3 -> add("CONFIG", "SET", "slowlog-max-len", "128", "slowlog-max-len", "128");
            case 4, 5 -> add("CONFIG", "SET", "slowlog-max-len", "128");
            default -> {
                add("CONFIG", "REWRITE");
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
            case 4 -> add("COMMAND", "LIST", "FILTERBY", one("MODULE", "foo"), "nosuch");
            case 5, 6 -> add("COMMAND", one("GETKEYS", "GETKEYSANDFLAGS"), "MSET", key(), "1", key(), "2");
            case 7 -> add("COMMAND", one("GETKEYS", "GETKEYSANDFLAGS"), "ZUNIONSTORE", key(), "2", key(), key());
            case 8 -> add("COMMAND", "GETKEYS", one("PING", "GET", "nosuch", "SELECT"), "1");
            default -> {
                add("ACL", "WHOAMI");
                shape("COMMAND");
                shape("PUBSUB", "HELP");
            }
        }
    }
}
