package io.varve.server.command.server;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Errors;
import io.varve.server.command.HelpText;
import io.varve.server.command.ServerState;
import io.varve.server.command.spec.Arguments;
import io.varve.server.command.text.GlobPattern;
import io.varve.server.config.ConfigException;
import io.varve.server.config.ConfigRewriter;
import io.varve.server.config.ServerConfig;
import io.varve.server.config.Setting;
import io.varve.server.config.Settings;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import static io.varve.server.command.spec.CommandFlag.ADMIN;
import static io.varve.server.command.spec.CommandFlag.LOADING;
import static io.varve.server.command.spec.CommandFlag.NOSCRIPT;
import static io.varve.server.command.spec.CommandFlag.STALE;

/** CONFIG. Immutable. */
public final class ConfigCommands {
    private static final Logger LOG = LoggerFactory.getLogger(ConfigCommands.class);

    private final ServerState server;

    public ConfigCommands(ServerState server) {
        this.server = server;
    }

    /** Adds this family's commands. */
    public void register(CommandTable.Builder table) {
        table.add(CommandBuilder.named("config").arity(-2).group("server").since("2.0.0")
                .complexity("Depends on subcommand.")
                .summary("A container for server configuration commands")
                .subcommand(
                        describe("get").arity(-3).summary("Returns the values of the settings that match the patterns")
                                .complexity("O(N) when N is the number of configuration parameters provided")
                                .handler(this::get))
                .subcommand(describe("set").arity(-4).summary("Changes settings atomically")
                        .tips("request_policy:all_nodes", "response_policy:all_succeeded")
                        .complexity("O(N) when N is the number of configuration parameters provided")
                        .secrets(ConfigCommands::isSecret).handler(this::set))
                .subcommand(describe("resetstat").arity(2).summary("Resets the statistics that INFO reports")
                        .handler(this::resetStat))
                .subcommand(describe("rewrite").arity(2).since("2.8.0")
                        .summary("Writes the settings to the configuration file")
                        .handler(this::rewrite))
                .subcommand(CommandBuilder.named("help").group("server").flags(LOADING, STALE).since("5.0.0").arity(2)
                        .summary("Returns helpful text about the subcommands").handler(ConfigCommands::help)));
    }

    private static CommandBuilder describe(String name) {
        return CommandBuilder.named(name).group("server").since("2.0.0").flags(ADMIN, NOSCRIPT, LOADING, STALE);
    }

    private void get(CommandContext context) {
        ServerConfig config = server.config();
        Map<String, String> found = new TreeMap<>();
        for (int i = 2; i < context.argumentCount(); i++) {
            String requested = context.argumentString(i);
            Setting exact = Settings.find(requested);
            if (exact != null) {
                // An exact match is replied as it was requested, as in Redis; a pattern match under its canonical name.
                found.put(requested, config.text(exact.name()));
            } else if (isPattern(requested)) {
                addMatching(context, i, config, found);
            }
        }
        context.reply().map(found.size());
        found.forEach((name, value) -> {
            context.reply().bulkText(name);
            context.reply().bulkText(value);
        });
    }

    private static void addMatching(CommandContext context, int pattern, ServerConfig config,
            Map<String, String> found) {
        for (Setting setting : Settings.all().values()) {
            if (!setting.hidden()) {
                addIfMatching(context, pattern, setting.name(), setting, config, found);
                if (setting.alias() != null) {
                    addIfMatching(context, pattern, setting.alias(), setting, config, found);
                }
            }
        }
    }

    private static void addIfMatching(CommandContext context, int pattern, String name, Setting setting,
            ServerConfig config,
            Map<String, String> found) {
        byte[] bytes = name.getBytes(StandardCharsets.US_ASCII);
        long address = context.scratch(bytes.length);
        Memory.copy(bytes, 0, address, bytes.length);
        if (GlobPattern.matches(context.argumentAddress(pattern), context.argumentLength(pattern), address,
                bytes.length,
                true)) {
            found.put(name, config.text(setting.name()));
        }
    }

    private static boolean isPattern(String text) {
        return text.indexOf('*') >= 0 || text.indexOf('?') >= 0 || text.indexOf('[') >= 0;
    }

    private void set(CommandContext context) {
        if (server.load().isLoading()) {
            // Unlike in Redis: the load has settings of its own, such as no limit of memory.
            context.reply().error(Errors.LOADING);
            return;
        }
        if (context.argumentCount() % 2 != 0) {
            context.syntaxError();
            return;
        }
        ServerConfig changed = server.config();
        // From settings to the names in the request.
        Map<String, String> requested = new LinkedHashMap<>();
        Set<String> seen = new HashSet<>();
        for (int i = 2; i < context.argumentCount(); i += 2) {
            String name = context.argumentString(i).toLowerCase(Locale.ROOT);
            Setting setting = Settings.find(name);
            if (setting == null) {
                context.reply().error("ERR Unknown option or number of arguments for CONFIG SET - '"
                        + context.argumentString(i) + "'");
                return;
            }
            if (!setting.changeable()) {
                fail(context, context.argumentString(i), "can't set immutable config");
                return;
            }
            if (setting.isProtected() && !mayChangeProtected(context)) {
                fail(context, context.argumentString(i), "can't set protected config");
                return;
            }
            requested.put(setting.name(), name);
            try {
                if (!seen.add(name)) {
                    throw new ConfigException("duplicate parameter");
                }
                String value = context.argumentString(i + 1);
                if (setting.isSecret()
                        && !Arrays.equals(value.getBytes(StandardCharsets.UTF_8), context.argumentBytes(i + 1))) {
                    // It would not be the intended password.
                    throw new ConfigException("argument must be text in UTF-8");
                }
                if (setting.kind() == Setting.Kind.DIRECTORY && !Files.isDirectory(Path.of(setting.normalize(value)))) {
                    throw new ConfigException("No such file or directory");
                }
                changed = changed.withNormal(setting, setting.normalize(value));
            } catch (ConfigException bad) {
                fail(context, name, bad.getMessage());
                return;
            }
        }
        apply(context, changed, requested);
    }

    private boolean mayChangeProtected(CommandContext context) {
        return switch (server.config().text("enable-protected-configs")) {
            case "yes" -> true;
            case "local" -> context.client().isLocal();
            default -> false;
        };
    }

    private static boolean isSecret(Arguments arguments, int index) {
        if (index < 3 || index % 2 == 0 || arguments.argumentLength(index - 1) > Arguments.MAX_TEXT_BYTES) {
            return false;
        }
        Setting setting = Settings.find(arguments.argumentString(index - 1));
        return setting != null && setting.isSecret();
    }

    /** @param requested the requested settings, each with its name in the request */
    private void apply(CommandContext context, ServerConfig changed, Map<String, String> requested) {
        try {
            server.config(changed.validate(), requested.keySet());
            context.reply().ok();
        } catch (ConfigException | IllegalArgumentException bad) {
            String first = String.valueOf(bad.getMessage()).lines().findFirst().orElse("");
            String about = bad instanceof ConfigException config ? config.setting() : null;
            fail(context, culprit(about == null ? first : about, requested), first);
        }
    }

    /** The requested name of the setting at fault: a message begins with its setting. */
    private static String culprit(String message, Map<String, String> requested) {
        Setting setting = Settings.find(message.split(" ", 2)[0]);
        String name = setting == null ? null : requested.get(setting.name());
        return name == null ? requested.values().iterator().next() : name;
    }

    private static void fail(CommandContext context, String name, @Nullable String why) {
        context.reply().error("ERR CONFIG SET failed (possibly related to argument '" + name + "') - " + why);
    }

    private void rewrite(CommandContext context) {
        ServerConfig config = server.config();
        if (config.file() == null) {
            context.reply().error("ERR The server is running without a config file");
            return;
        }
        try {
            ConfigRewriter.rewrite(config, config.aclFile() == null
                    ? server.access().configurationLines(config).stream().map(line -> List.of(line.split(" ", -1)))
                            .toList()
                    : List.of());
            LOG.info("CONFIG REWRITE has written {}", config.file());
            context.reply().ok();
        } catch (IOException | ConfigException failed) {
            LOG.warn("CONFIG REWRITE cannot write {}", config.file(), failed);
            context.reply().error("ERR Rewriting config file: " + failed.getMessage());
        }
    }

    private void resetStat(CommandContext context) {
        server.telemetry().resetStats();
        context.reply().ok();
    }

    private static void help(CommandContext context) {
        HelpText.reply(context.reply(), "CONFIG", "GET <pattern>",
                "    Return parameters matching the glob-like <pattern> "
                        + "and their values.",
                "SET <directive> <value>", "    Set the configuration <directive> to <value>.",
                "RESETSTAT", "    Reset statistics reported by the INFO command.", "REWRITE",
                "    Rewrite the configuration file.");
    }
}
