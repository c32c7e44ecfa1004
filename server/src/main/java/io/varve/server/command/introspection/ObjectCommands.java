package io.varve.server.command.introspection;

import java.util.concurrent.locks.LockSupport;

import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandSpec;
import io.varve.server.command.CommandTable;
import io.varve.server.command.HelpText;
import io.varve.server.command.Invocation;
import io.varve.server.command.ServerContext;
import io.varve.server.command.hash.HashValue;
import io.varve.server.command.set.SetView;
import io.varve.server.command.set.Sets;
import io.varve.server.command.sortedset.SortedSetValue;
import io.varve.server.command.sortedset.SortedSets;
import io.varve.server.command.value.Encodings;
import io.varve.server.command.value.KeyLookup;
import io.varve.server.resp.Numbers;

import static io.varve.server.command.CommandFlag.ADMIN;
import static io.varve.server.command.CommandFlag.LOADING;
import static io.varve.server.command.CommandFlag.NOSCRIPT;
import static io.varve.server.command.CommandFlag.READONLY;
import static io.varve.server.command.CommandFlag.STALE;

/** What lies behind a key: OBJECT, DEBUG. Immutable. */
public final class ObjectCommands {
    /** The longest string that Redis embeds in its object. */
    private static final int EMBEDDED_BYTES = 44;
    private static final String NO_SUCH_KEY = "ERR no such key";

    private final ServerContext server;

    public ObjectCommands(ServerContext server) {
        this.server = server;
    }

    /** Adds the family. */
    public void register(CommandTable.Builder table) {
        object(table);
        table.add(CommandSpec.named("debug").arity(-2).group("server").flags(ADMIN, NOSCRIPT, LOADING, STALE)
                .forDebugging().complexity("Depends on subcommand.").summary("For tests of the server.")
                .subcommand(debug("sleep", 3, "Sleeps, and holds its event loop up.").handler(ObjectCommands::sleep))
                .subcommand(debug("object", 3, "How a key's value is stored.").key(2).access("RO")
                        .handler(ObjectCommands::debugObject))
                .subcommand(debug("set-active-expire", 3, "Turns expiry in the background off and on.")
                        .handler(this::setActiveExpire))
                .subcommand(debug("help", 2, "Shows what the subcommands do.")
                        .handler(call -> HelpText.reply(call.reply(), "DEBUG", "OBJECT <key>",
                                "    Show low level info about `key` and associated value.",
                                "SET-ACTIVE-EXPIRE <0|1>",
                                "    Setting it to 0 disables expiring keys in background.", "SLEEP <seconds>",
                                "    Stop the event loop for <seconds>. Decimals allowed."))));
    }

    private static CommandBuilder debug(String name, int arity, String summary) {
        return CommandSpec.named(name).arity(arity).group("server").flags(ADMIN, NOSCRIPT, LOADING, STALE)
                .forDebugging().summary(summary);
    }

    private static void object(CommandTable.Builder table) {
        table.add(CommandSpec.named("object").arity(-2).group("generic").since("2.2.3")
                .complexity("Depends on subcommand.").summary("How a key's value is stored.")
                .subcommand(inspect("encoding", "2.2.3", "The encoding of the value.")
                        .handler(ObjectCommands::encoding))
                .subcommand(inspect("freq", "4.0.0", "How often the key was used, logarithmically.")
                        .handler(ObjectCommands::frequency))
                .subcommand(inspect("idletime", "2.2.3", "Seconds since the key was used.")
                        .handler(ObjectCommands::idleTime))
                .subcommand(inspect("refcount", "2.2.3", "How many refer to the value: always one.")
                        .handler(ObjectCommands::references))
                .subcommand(CommandSpec.named("help").arity(2).group("generic").since("6.2.0").flags(LOADING, STALE)
                        .categories("@keyspace").summary("Shows what the subcommands do.")
                        .handler(call -> HelpText.reply(call.reply(), "OBJECT", "ENCODING <key>",
                                "    Return the kind of internal representation used in order to store the value",
                                "    associated with a <key>.", "FREQ <key>",
                                "    Return the access frequency index of the <key>. The returned integer is",
                                "    proportional to the logarithm of the recent access frequency of the key.",
                                "IDLETIME <key>",
                                "    Return the idle time of the <key>, that is the approximated number of",
                                "    seconds elapsed since the last access to the key.", "REFCOUNT <key>",
                                "    Return the number of references of the value associated with the specified",
                                "    <key>."))));
    }

    private static CommandBuilder inspect(String name, String since, String summary) {
        return CommandSpec.named(name).arity(3).group("generic").since(since).flags(READONLY).key(2).access("RO")
                .categories("@keyspace").tips("nondeterministic_output").summary(summary);
    }

    // --- OBJECT

    /** Finds the key of argument 2 for OBJECT: counts, but leaves the access clock; replies nil if it is not there. */
    private static boolean look(Invocation call) {
        if (KeyLookup.findUntold(call, call.key(2), call.item())) {
            return true;
        }
        call.reply().nil();
        return false;
    }

    private static void encoding(Invocation call) {
        if (look(call)) {
            call.reply().bulkAscii(encodingOf(call, call.key(2), call.item()));
        }
    }

    private static String encodingOf(Invocation call, Key key, Item item) {
        return switch (item.type()) {
            case STRING -> item.encoding() == Encodings.STRING_RAW
                    ? "raw"
                    : item.encoding() != Encodings.STRING_TEXT
                            && Numbers.isLong(item.valueAddress(), item.valueLength())
                                    ? "int"
                                    : item.valueLength() <= EMBEDDED_BYTES ? "embstr" : "raw";
            case HASH -> {
                HashValue hash = HashValue.of(call);
                hash.openAgain(key);
                yield !hash.isListpack() ? "hashtable" : hash.keepsTimes() ? "listpackex" : "listpack";
            }
            case LIST -> "quicklist";
            case SET -> {
                SetView set = Sets.of(call).first();
                set.look(call, key, item);
                yield switch (set.encoding()) {
                    case Encodings.SET_INTEGERS -> "intset";
                    case Encodings.SET_LISTPACK -> "listpack";
                    default -> "hashtable";
                };
            }
            case SORTED_SET -> {
                SortedSetValue set = SortedSets.of(call).set();
                set.openAgain(call, key);
                yield set.isListpack() ? "listpack" : "skiplist";
            }
            case STREAM -> "stream";
        };
    }

    private static void frequency(Invocation call) {
        if (!look(call)) {
            return;
        }
        int frequency = call.session().frequency(call.item());
        if (frequency < 0) {
            call.reply().error("ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note "
                    + "that when switching between policies at runtime LRU and LFU data will take some time to adjust.");
        } else {
            call.reply().integer(frequency);
        }
    }

    private static void idleTime(Invocation call) {
        if (!look(call)) {
            return;
        }
        long idleMillis = call.session().idleMillis(call.item());
        if (idleMillis >= 0) {
            call.reply().integer(idleMillis / 1000);
        } else if (call.session().frequency(call.item()) < 0) {
            call.reply()
                    .error("ERR The maxmemory policy keeps neither idle times nor frequencies: select another one with "
                            + "CONFIG SET maxmemory-policy, such as allkeys-lru.");
        } else {
            call.reply().error("ERR An LFU maxmemory policy is selected, idle time not tracked. Please note that when "
                    + "switching between policies at runtime LRU and LFU data will take some time to adjust.");
        }
    }

    private static void references(Invocation call) {
        if (look(call)) {
            call.reply().integer(1);
        }
    }

    // --- DEBUG

    private static void sleep(Invocation call) {
        if (!call.requireDouble(2)) {
            return;
        }
        long end = System.nanoTime() + (long) (call.doubleValue() * 1e9);
        for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
        call.reply().ok();
    }

    private static void debugObject(Invocation call) {
        Key key = call.key(2);
        Item item = call.item();
        if (!call.session().peek(key, item)) {
            call.reply().error(NO_SUCH_KEY);
            return;
        }
        long idleMillis = call.session().idleMillis(item);
        long length = item.isTree() ? call.session().memoryUsage(item) : item.valueLength();
        call.reply().simple("Value at:0x" + Long.toHexString(item.valueAddress()) + " refcount:1 encoding:"
                + encodingOf(call, key, item) + " serializedlength:" + length + " lru:0 lru_seconds_idle:"
                + Math.max(0, idleMillis) / 1000 + (item.type() == ItemType.STRING
                        ? ""
                        : " type:"
                                + item.type().redisName()));
    }

    private void setActiveExpire(Invocation call) {
        if (!call.requireLong(2)) {
            return;
        }
        server.activeExpire(call.longValue() != 0);
        call.reply().ok();
    }
}
