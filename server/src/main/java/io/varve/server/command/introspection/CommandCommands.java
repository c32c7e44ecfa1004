package io.varve.server.command.introspection;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;

import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandNameIndex;
import io.varve.server.command.CommandTable;
import io.varve.server.command.HelpText;
import io.varve.server.command.ServerState;
import io.varve.server.command.spec.Arguments;
import io.varve.server.command.spec.CommandFlag;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.command.spec.EmbeddedArguments;
import io.varve.server.command.spec.KeyPlaces;
import io.varve.server.command.spec.KeyUse;
import io.varve.server.command.text.GlobPattern;
import io.varve.server.resp.ReplyWriter;
import org.jspecify.annotations.Nullable;

import static io.varve.server.command.spec.CommandFlag.LOADING;
import static io.varve.server.command.spec.CommandFlag.STALE;

/**
 * COMMAND: introspection of the command table. Immutable; it reads the server's table, complete before the first
 * connection.
 */
public final class CommandCommands {
    private static final String ORDER = "nondeterministic_output_order";
    /** Argument at which the command embedded in COMMAND GETKEYS begins. */
    private static final int EMBEDDED_AT = 2;

    private final ServerState server;

    public CommandCommands(ServerState server) {
        this.server = server;
    }

    /** Adds this family's commands. */
    public void register(CommandTable.Builder table) {
        table.add(describe("command", -1, "2.8.13", "Returns details of all commands").tips(ORDER)
                .complexity("O(N) where N is the number of commands")
                .handler(context -> infos(context, table().commands()))
                .subcommand(describe("count", 2, "2.8.13", "Returns the number of commands")
                        .handler(context -> context.reply().integer(table().size())))
                .subcommand(
                        describe("info", -2, "2.8.13", "Returns details of all commands or of the named ones")
                                .tips(ORDER).complexity("O(N) where N is the number of commands to look up")
                                .handler(this::info))
                .subcommand(describe("docs", -2, "7.0.0", "Returns documentation of all commands or of the named ones")
                        .tips(ORDER).complexity("O(N) where N is the number of commands to look up")
                        .handler(this::docs))
                .subcommand(describe("list", -2, "7.0.0", "Lists the names of commands").tips(ORDER)
                        .complexity("O(N) where N is the number of commands").handler(this::list))
                .subcommand(describe("getkeys", -3, "2.8.13", "Extracts the keys from a full command")
                        .complexity("O(N) where N is the number of arguments").handler(context -> keys(context, false)))
                .subcommand(describe("getkeysandflags", -3, "7.0.0",
                        "Extracts the keys and their access flags from a full command")
                        .complexity("O(N) where N is the number of arguments")
                        .handler(context -> keys(context, true)))
                .subcommand(HelpText.describe("server", "5.0.0").categories("@connection")
                        .handler(CommandCommands::help)));
    }

    private static CommandBuilder describe(String name, int arity, String since, String summary) {
        return CommandBuilder.named(name).arity(arity).group("server").since(since).summary(summary)
                .flags(LOADING, STALE).categories("@connection");
    }

    private CommandTable table() {
        return server.commands();
    }

    /** The command, or subcommand after a bar, that an argument names in any case. */
    private @Nullable CommandSpec named(CommandContext context, int argument) {
        return table().find(context.argumentString(argument).toLowerCase(Locale.ROOT));
    }

    // --- INFO

    private void info(CommandContext context) {
        if (context.argumentCount() == 2) {
            infos(context, table().commands());
            return;
        }
        context.reply().array(context.argumentCount() - 2);
        for (int i = 2; i < context.argumentCount(); i++) {
            CommandSpec spec = named(context, i);
            if (spec == null) {
                context.reply().nil();
            } else {
                info(context.reply(), spec);
            }
        }
    }

    private static void infos(CommandContext context, Collection<CommandSpec> specs) {
        context.reply().array(specs.size());
        for (CommandSpec spec : specs) {
            info(context.reply(), spec);
        }
    }

    private static void info(ReplyWriter reply, CommandSpec spec) {
        reply.array(10);
        reply.bulkAscii(spec.fullName());
        reply.integer(spec.arity());
        reply.set(spec.flags().size());
        for (CommandFlag flag : spec.flags()) {
            reply.simple(flag.redisName());
        }
        reply.integer(spec.firstKey());
        reply.integer(spec.lastKey());
        reply.integer(spec.keyStep());
        reply.set(spec.categories().size());
        spec.categories().forEach(reply::simple);
        reply.set(spec.tips().size());
        spec.tips().forEach(reply::bulkAscii);
        reply.set(spec.keyUses().size());
        spec.keyUses().forEach(use -> keyUse(reply, use));
        reply.set(spec.subcommands().size());
        spec.subcommands().values().forEach(child -> info(reply, child));
    }

    private static void keyUse(ReplyWriter reply, KeyUse use) {
        reply.map(3);
        reply.bulkAscii("flags");
        flags(reply, use.flags());
        if (use.isUnknown()) {
            unknown(reply, "begin_search");
            unknown(reply, "find_keys");
            return;
        }
        reply.bulkAscii("begin_search");
        reply.map(2);
        reply.bulkAscii("type");
        reply.bulkAscii(use.word().isEmpty() ? "index" : "keyword");
        reply.bulkAscii("spec");
        if (use.word().isEmpty()) {
            reply.map(1);
            number(reply, "index", use.firstKey());
        } else {
            reply.map(2);
            reply.bulkAscii("keyword");
            reply.bulkAscii(use.word());
            number(reply, "startfrom", use.firstKey());
        }
        reply.bulkAscii("find_keys");
        reply.map(2);
        reply.bulkAscii("type");
        reply.bulkAscii(use.counted() ? "keynum" : "range");
        reply.bulkAscii("spec");
        reply.map(3);
        if (use.counted()) {
            number(reply, "keynumidx", 0);
            number(reply, "firstkey", 1);
            number(reply, "keystep", use.keyStep());
        } else {
            number(reply, "lastkey", use.lastKey());
            number(reply, "keystep", use.keyStep());
            number(reply, "limit", use.limit());
        }
    }

    private static void unknown(ReplyWriter reply, String name) {
        reply.bulkAscii(name);
        reply.map(2);
        reply.bulkAscii("type");
        reply.bulkAscii("unknown");
        reply.bulkAscii("spec");
        reply.map(0);
    }

    private static void number(ReplyWriter reply, String name, long value) {
        reply.bulkAscii(name);
        reply.integer(value);
    }

    private static void flags(ReplyWriter reply, List<String> flags) {
        reply.set(flags.size());
        flags.forEach(reply::simple);
    }

    // --- DOCS

    private void docs(CommandContext context) {
        Collection<CommandSpec> wanted = table().commands();
        if (context.argumentCount() > 2) {
            wanted = new ArrayList<>();
            for (int i = 2; i < context.argumentCount(); i++) {
                CommandSpec spec = named(context, i);
                if (spec != null) {
                    wanted.add(spec);
                }
            }
        }
        docs(context.reply(), wanted);
    }

    private static void docs(ReplyWriter reply, Collection<CommandSpec> specs) {
        reply.map(specs.size());
        for (CommandSpec spec : specs) {
            reply.bulkAscii(spec.fullName());
            reply.map(spec.hasSubcommands() ? 5 : 4);
            field(reply, "summary", spec.summary());
            field(reply, "since", spec.since());
            field(reply, "group", spec.group());
            field(reply, "complexity", spec.complexity());
            if (spec.hasSubcommands()) {
                reply.bulkAscii("subcommands");
                docs(reply, spec.subcommands().values());
            }
        }
    }

    private static void field(ReplyWriter reply, String name, String text) {
        reply.bulkAscii(name);
        reply.bulkText(text);
    }

    // --- LIST

    private void list(CommandContext context) {
        if (context.argumentCount() == 2) {
            names(context, _ -> true);
        } else if (context.argumentCount() != 5 || !context.argumentIs(2, "FILTERBY")) {
            context.syntaxError();
        } else if (context.argumentIs(3, "MODULE")) {
            names(context, _ -> false);
        } else if (context.argumentIs(3, "ACLCAT")) {
            String category = "@" + context.argumentString(4).toLowerCase(Locale.ROOT);
            names(context, spec -> spec.categories().contains(category));
        } else if (context.argumentIs(3, "PATTERN")) {
            names(context, spec -> matches(context, spec.fullName()));
        } else {
            context.syntaxError();
        }
    }

    private static boolean matches(CommandContext context, String name) {
        byte[] bytes = name.getBytes(java.nio.charset.StandardCharsets.US_ASCII);
        long address = context.scratch(bytes.length);
        Memory.copy(bytes, 0, address, bytes.length);
        return GlobPattern.matches(context.argumentAddress(4), context.argumentLength(4), address, bytes.length, true);
    }

    private void names(CommandContext context, Predicate<CommandSpec> wanted) {
        List<CommandSpec> found = table().visible().stream().filter(wanted).toList();
        context.reply().array(found.size());
        for (CommandSpec spec : found) {
            context.reply().bulkAscii(spec.fullName());
        }
    }

    // --- GETKEYS

    private void keys(CommandContext context, boolean withFlags) {
        EmbeddedArguments embedded = new EmbeddedArguments(context, EMBEDDED_AT);
        CommandSpec spec = CommandNameIndex.find(table(), embedded);
        if (spec == null) {
            context.reply().error("ERR Invalid command specified");
        } else if (!spec.namesKeys()) {
            context.reply().error("ERR The command has no key arguments");
        } else if (!spec.acceptsCount(embedded.argumentCount())) {
            context.reply().error("ERR Invalid number of arguments specified for command");
        } else {
            List<Integer> indexes = KeyPlaces.indexes(spec, embedded);
            if (indexes.isEmpty() && !spec.has(CommandFlag.NO_MANDATORY_KEYS)) {
                context.reply().error("ERR Invalid arguments specified for command");
                return;
            }
            context.reply().array(indexes.size());
            for (int index : indexes) {
                key(context.reply(), spec, embedded, index, withFlags);
            }
        }
    }

    private static void key(ReplyWriter reply, CommandSpec spec, Arguments arguments, int index, boolean withFlags) {
        if (!withFlags) {
            reply.bulk(arguments.argumentAddress(index), arguments.argumentLength(index));
            return;
        }
        reply.array(2);
        reply.bulk(arguments.argumentAddress(index), arguments.argumentLength(index));
        flags(reply, spec.keyFlags(arguments, index));
    }

    private static void help(CommandContext context) {
        HelpText.reply(context.reply(), "COMMAND", "(no subcommand)", "    Return details of all commands.",
                "COUNT",
                "    Return the number of commands.", "LIST",
                "    List the names of all commands, or with FILTERBY (MODULE <name>|ACLCAT <category>|PATTERN <glob>)",
                "    of the commands that match the filter.", "INFO [<command-name> ...]",
                "    Return details of the named commands; without names, of all commands.",
                "DOCS [<command-name> ...]",
                "    Return documentation of the named commands; without names, of all commands.",
                "GETKEYS <full-command>", "    Return the keys of a full command.",
                "GETKEYSANDFLAGS <full-command>", "    Return the keys of a full command with their access flags.");
    }
}
