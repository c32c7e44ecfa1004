package io.varve.server.command.introspection;

import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.HelpText;
import io.varve.server.command.hash.HashValue;
import io.varve.server.command.set.SetView;
import io.varve.server.command.set.Sets;
import io.varve.server.command.sortedset.SortedSetValue;
import io.varve.server.command.sortedset.SortedSets;
import io.varve.server.command.value.Encodings;
import io.varve.server.command.value.KeyLookup;
import io.varve.server.resp.Numbers;

import static io.varve.server.command.spec.CommandFlag.LOADING;
import static io.varve.server.command.spec.CommandFlag.READONLY;
import static io.varve.server.command.spec.CommandFlag.STALE;

/** OBJECT: the internals of a key. Immutable: static handlers. */
public final class ObjectCommands {
    /** The longest string that Redis embeds in its object. */
    private static final int EMBEDDED_BYTES = 44;
    static final String NO_SUCH_KEY = "ERR no such key";

    private ObjectCommands() {}

    /** Adds this family's commands. */
    public static void addTo(CommandTable.Builder table) {
        table.add(CommandBuilder.named("object").arity(-2).group("generic").since("2.2.3")
                .complexity("Depends on subcommand.").summary("A container for object introspection commands")
                .subcommand(inspect("encoding", "2.2.3", "Returns the internal encoding of a value")
                        .handler(ObjectCommands::encoding))
                .subcommand(inspect("freq", "4.0.0", "Returns the logarithmic access frequency counter of a key")
                        .handler(ObjectCommands::frequency))
                .subcommand(inspect("idletime", "2.2.3", "Returns the seconds since the last access to a key")
                        .handler(ObjectCommands::idleTime))
                .subcommand(inspect("refcount", "2.2.3", "Returns the reference count of a value, which is always 1")
                        .handler(ObjectCommands::references))
                .subcommand(CommandBuilder.named("help").arity(2).group("generic").since("6.2.0").flags(LOADING, STALE)
                        .categories("@keyspace").summary("Returns helpful text about the subcommands")
                        .handler(context -> HelpText.reply(context.reply(), "OBJECT", "ENCODING <key>",
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
        return CommandBuilder.named(name).arity(3).group("generic").since(since).flags(READONLY).key(2).access("RO")
                .categories("@keyspace").tips("nondeterministic_output").summary(summary);
    }

    // --- OBJECT

    /**
     * Finds the key of argument 2 for OBJECT. Counts the lookup but does not update access recency; replies nil if the
     * key does not exist.
     */
    private static boolean lookUp(CommandContext context) {
        if (KeyLookup.findWithoutEvent(context, context.key(2), context.item())) {
            return true;
        }
        context.reply().nil();
        return false;
    }

    private static void encoding(CommandContext context) {
        if (lookUp(context)) {
            context.reply().bulkAscii(encodingOf(context, context.key(2), context.item()));
        }
    }

    static String encodingOf(CommandContext context, Key key, Item item) {
        return switch (item.type()) {
            case STRING -> item.encoding() == Encodings.STRING_RAW
                    ? "raw"
                    : item.encoding() != Encodings.STRING_TEXT
                            && Numbers.isLong(item.valueAddress(), item.valueLength())
                                    ? "int"
                                    : item.valueLength() <= EMBEDDED_BYTES ? "embstr" : "raw";
            case HASH -> {
                HashValue hash = HashValue.of(context);
                hash.openAgain(key);
                yield !hash.isListpack() ? "hashtable" : hash.keepsTimes() ? "listpackex" : "listpack";
            }
            case LIST -> "quicklist";
            case SET -> {
                SetView set = Sets.of(context).first();
                set.bind(context, key, item);
                yield switch (set.encoding()) {
                    case Encodings.SET_INTEGERS -> "intset";
                    case Encodings.SET_LISTPACK -> "listpack";
                    default -> "hashtable";
                };
            }
            case SORTED_SET -> {
                SortedSetValue set = SortedSets.of(context).set();
                set.openAgain(context, key);
                yield set.isListpack() ? "listpack" : "skiplist";
            }
            case STREAM -> "stream";
        };
    }

    private static void frequency(CommandContext context) {
        if (!lookUp(context)) {
            return;
        }
        int frequency = context.session().frequency(context.item());
        if (frequency < 0) {
            context.reply()
                    .error("ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note "
                            + "that when switching between policies at runtime LRU and LFU data will take some"
                            + " time to adjust.");
        } else {
            context.reply().integer(frequency);
        }
    }

    private static void idleTime(CommandContext context) {
        if (!lookUp(context)) {
            return;
        }
        long idleMillis = context.session().idleMillis(context.item());
        if (idleMillis >= 0) {
            context.reply().integer(idleMillis / 1000);
        } else if (context.session().frequency(context.item()) < 0) {
            context.reply()
                    .error("ERR The maxmemory policy keeps neither idle times nor frequencies: select another one with "
                            + "CONFIG SET maxmemory-policy, such as allkeys-lru.");
        } else {
            context.reply()
                    .error("ERR An LFU maxmemory policy is selected, idle time not tracked. Please note that when "
                            + "switching between policies at runtime LRU and LFU data will take some time to adjust.");
        }
    }

    private static void references(CommandContext context) {
        if (lookUp(context)) {
            context.reply().integer(1);
        }
    }
}
