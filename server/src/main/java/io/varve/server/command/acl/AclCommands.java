package io.varve.server.command.acl;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import io.varve.server.acl.AccessControl;
import io.varve.server.acl.Account;
import io.varve.server.acl.AclLog;
import io.varve.server.acl.Category;
import io.varve.server.acl.Denial;
import io.varve.server.acl.Passwords;
import io.varve.server.acl.RuleException;
import io.varve.server.acl.Selector;
import io.varve.server.acl.User;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandNameIndex;
import io.varve.server.command.CommandTable;
import io.varve.server.command.HelpText;
import io.varve.server.command.ServerState;
import io.varve.server.command.access.RequestedAccess;
import io.varve.server.command.pubsub.ListenedChannels;
import io.varve.server.command.session.Client;
import io.varve.server.command.spec.Arguments;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.command.spec.EmbeddedArguments;
import io.varve.server.resp.ReplyWriter;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import static io.varve.server.command.spec.CommandFlag.ADMIN;
import static io.varve.server.command.spec.CommandFlag.LOADING;
import static io.varve.server.command.spec.CommandFlag.NOSCRIPT;
import static io.varve.server.command.spec.CommandFlag.STALE;

/** ACL: users and their rules. Immutable. Names, rules and patterns are bytes, decoded as ISO 8859-1. */
public final class AclCommands {
    private static final Logger LOG = LoggerFactory.getLogger(AclCommands.class);

    private static final int RULES_AT = 3;
    private static final int MAX_BITS = 4096;
    private static final int DEFAULT_BITS = 256;
    private static final long DEFAULT_ENTRIES = 10;

    private final ServerState server;

    public AclCommands(ServerState server) {
        this.server = server;
    }

    /** Adds this family's commands. */
    public void register(CommandTable.Builder table) {
        table.add(CommandBuilder.named("acl").arity(-2).group("server").since("6.0.0")
                .complexity("Depends on subcommand.").summary("A container for Access Control List commands")
                .subcommand(plain("cat", -2, "Lists the ACL categories, or the commands of a category")
                        .handler(this::categories))
                .subcommand(
                        admin("deluser", -3, "Deletes users and closes their connections").handler(this::deleteUsers))
                .subcommand(admin("dryrun", -4, "Checks whether a user may run a command, without running it")
                        .since("7.0.0").secrets(this::isSecretOfDryRun).handler(this::dryRun))
                .subcommand(plain("genpass", -2, "Generates a random password").handler(AclCommands::generatePassword))
                .subcommand(admin("getuser", 3, "Returns the rules of a user").handler(this::getUser))
                .subcommand(admin("list", 2, "Lists the rules of all users in the format of an ACL file")
                        .handler(this::list))
                .subcommand(admin("load", 2, "Reloads the users from the ACL file").handler(this::load))
                .subcommand(admin("log", -2, "Lists the latest denials").handler(this::log))
                .subcommand(admin("save", 2, "Saves the users to the ACL file").handler(this::save))
                .subcommand(admin("setuser", -3, "Creates or modifies a user")
                        .secrets((_, index) -> index >= 2).handler(this::setUser))
                .subcommand(admin("users", 2, "Lists the names of all users").handler(this::users))
                .subcommand(plain("whoami", 2, "Returns the name of this connection's user")
                        .handler(call -> bulk(call.reply(), call.client().account().name())))
                .subcommand(HelpText.describe("server", "6.0.0").handler(AclCommands::help)));
    }

    private static CommandBuilder plain(String name, int arity, String summary) {
        return CommandBuilder.named(name).arity(arity).group("server").since("6.0.0").summary(summary)
                .complexity("O(N) where N is the number of users, rules or entries returned or changed")
                .flags(NOSCRIPT, LOADING, STALE);
    }

    private static CommandBuilder admin(String name, int arity, String summary) {
        return plain(name, arity, summary).flags(ADMIN);
    }

    // --- byte strings

    private static String text(CommandContext call, int argument) {
        return new String(call.argumentBytes(argument), StandardCharsets.ISO_8859_1);
    }

    private static void bulk(ReplyWriter reply, String bytes) {
        reply.bulk(bytes.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static void error(CommandContext call, String bytes) {
        call.reply().errorOfBytes("ERR " + bytes);
    }

    // --- users

    private void setUser(CommandContext call) {
        String name = text(call, 2);
        if (name.chars().anyMatch(c -> c == ' ' || c >= '\t' && c <= '\r' || c == 0)) {
            error(call, "Usernames can't contain spaces or null characters");
            return;
        }
        List<String> rules = new ArrayList<>();
        for (int i = RULES_AT; i < call.argumentCount(); i++) {
            rules.add(text(call, i));
        }
        try {
            Account account = server.access().set(name, rules);
            call.reply().ok();
            ListenedChannels.disconnectBeyond(call, account);
        } catch (RuleException bad) {
            error(call, bad.reply());
        }
    }

    private void deleteUsers(CommandContext call) {
        for (int i = 2; i < call.argumentCount(); i++) {
            if (text(call, i).equals(AccessControl.DEFAULT)) {
                error(call, "The 'default' user cannot be removed");
                return;
            }
        }
        List<Account> gone = new ArrayList<>();
        for (int i = 2; i < call.argumentCount(); i++) {
            Account account = server.access().delete(text(call, i));
            if (account != null) {
                gone.add(account);
            }
        }
        call.reply().integer(gone.size());
        disconnect(call, gone);
    }

    private void disconnect(CommandContext call, Collection<Account> gone) {
        Set<Account> accounts = Set.copyOf(gone);
        for (Client client : server.lifecycle().clients().unordered()) {
            if (accounts.contains(client.account())) {
                client.closeFor(call.client());
            }
        }
    }

    private void getUser(CommandContext call) {
        Account account = server.access().find(text(call, 2));
        if (account == null) {
            call.reply().nil();
            return;
        }
        User user = account.user();
        ReplyWriter reply = call.reply();
        reply.map(6);
        reply.bulkAscii("flags");
        reply.set(user.flags().size());
        user.flags().forEach(reply::bulkAscii);
        reply.bulkAscii("passwords");
        reply.array(user.passwordHashes().size());
        user.passwordHashes().forEach(reply::bulkAscii);
        selector(reply, user.root());
        reply.bulkAscii("selectors");
        reply.array(user.groups().size());
        for (Selector group : user.groups()) {
            reply.map(3);
            selector(reply, group);
        }
    }

    private static void selector(ReplyWriter reply, Selector selector) {
        reply.bulkAscii("commands");
        bulk(reply, selector.commandRules());
        reply.bulkAscii("keys");
        bulk(reply, selector.keyRules());
        reply.bulkAscii("channels");
        bulk(reply, selector.channelRules());
    }

    private void list(CommandContext call) {
        bulks(call.reply(), server.access().lines());
    }

    private void users(CommandContext call) {
        bulks(call.reply(), server.access().all().stream().map(Account::name).toList());
    }

    private static void bulks(ReplyWriter reply, List<String> texts) {
        reply.array(texts.size());
        texts.forEach(text -> bulk(reply, text));
    }

    // --- commands

    private void categories(CommandContext call) {
        if (call.argumentCount() > 3) {
            subcommandError(call);
        } else if (call.argumentCount() == 2) {
            bulks(call.reply(), Category.names());
        } else if (Category.exists(text(call, 2))) {
            bulks(call.reply(), server.access().commandsOf(text(call, 2).toLowerCase(Locale.ROOT)));
        } else {
            String given = RuleException.shown(text(call, 2));
            error(call, "Unknown category '" + given.substring(0, Math.min(128, given.length())) + "'");
        }
    }

    private static void subcommandError(CommandContext call) {
        error(call, "unknown subcommand or wrong number of arguments for '" + text(call, 1) + "'. Try ACL HELP.");
    }

    /** Whether an argument of the embedded command is a secret of that command. */
    private boolean isSecretOfDryRun(Arguments arguments, int index) {
        if (index <= RULES_AT) {
            return false;
        }
        EmbeddedArguments command = new EmbeddedArguments(arguments, RULES_AT);
        CommandSpec spec = CommandNameIndex.find(server.commands(), command);
        return spec != null && spec.isSecret(command, index - RULES_AT);
    }

    private void dryRun(CommandContext call) {
        Account account = server.access().find(text(call, 2));
        if (account == null) {
            error(call, "User '" + RuleException.shown(text(call, 2)) + "' not found");
            return;
        }
        EmbeddedArguments command = new EmbeddedArguments(call, RULES_AT);
        CommandSpec spec = CommandNameIndex.find(server.commands(), command);
        if (spec == null) {
            error(call, "Command '" + RuleException.shown(text(call, RULES_AT)) + "' not found");
            return;
        }
        if (!spec.acceptsCount(command.argumentCount())) {
            error(call, "wrong number of arguments for '" + spec.fullName() + "' command");
            return;
        }
        long verdict = account.user().check(RequestedAccess.of(command, spec));
        if (verdict == Denial.NONE) {
            call.reply().ok();
            return;
        }
        String subject = RuleException.shown(text(call, RULES_AT + Denial.argument(verdict)));
        bulk(call.reply(), "User " + account.name() + " has no permissions to " + switch (Denial.of(verdict)) {
            case KEY -> "access the '" + subject + "' key";
            case CHANNEL -> "access the '" + subject + "' channel";
            case COMMAND, AUTH -> "run the '" + spec.fullName() + "' command";
        });
    }

    private static void generatePassword(CommandContext call) {
        long bits = DEFAULT_BITS;
        if (call.argumentCount() > 3) {
            subcommandError(call);
            return;
        }
        if (call.argumentCount() == 3) {
            if (!call.requireLong(2)) {
                return;
            }
            bits = call.longValue();
        }
        if (bits <= 0 || bits > MAX_BITS) {
            error(call, "ACL GENPASS argument must be the number of bits for the output password, a positive number up"
                    + " to " + MAX_BITS);
            return;
        }
        call.reply().bulkAscii(Passwords.generate((int) bits));
    }

    // --- the file

    private @Nullable Path file(CommandContext call) {
        Path file = server.config().aclFile();
        if (file == null) {
            error(call, "This Redis instance is not configured to use an ACL file. You may want to specify users via"
                    + " the ACL SETUSER command and then issue a CONFIG REWRITE (assuming you have a Redis"
                    + " configuration file set) in order to store users in the Redis configuration.");
        }
        return file;
    }

    private void load(CommandContext call) {
        Path file = file(call);
        if (file == null) {
            return;
        }
        List<String> errors = new ArrayList<>();
        List<Account> gone = server.access().load(file, errors);
        if (errors.isEmpty()) {
            call.reply().ok();
            disconnect(call, gone);
            // All other accounts were deleted.
            ListenedChannels.disconnectBeyond(call, server.access().defaultAccount());
        } else {
            error(call, String.join(" ", errors));
        }
    }

    private void save(CommandContext call) {
        Path file = file(call);
        if (file == null) {
            return;
        }
        try {
            server.access().save(file);
            call.reply().ok();
        } catch (IOException failed) {
            LOG.warn("ACL SAVE could not write {}: {}", file, failed.toString());
            error(call, "There was an error trying to save the ACLs. Please check the server logs for more"
                    + " information");
        }
    }

    // --- the log

    private void log(CommandContext call) {
        long count = DEFAULT_ENTRIES;
        if (call.argumentCount() > 3) {
            subcommandError(call);
            return;
        }
        if (call.argumentCount() == 3) {
            if (call.argumentIs(2, "RESET")) {
                server.access().log().reset();
                call.reply().ok();
                return;
            }
            if (!call.requireLong(2)) {
                return;
            }
            count = call.longValue();
        }
        List<AclLog.Entry> entries = server.access().log().latest(count);
        long now = server.ticker().wallMillis();
        call.reply().array(entries.size());
        entries.forEach(entry -> entry(call.reply(), entry, now));
    }

    private static void entry(ReplyWriter reply, AclLog.Entry entry, long nowMillis) {
        reply.map(10);
        number(reply, "count", entry.count());
        word(reply, "reason", entry.reason().word());
        word(reply, "context", entry.context());
        word(reply, "object", entry.object());
        word(reply, "username", entry.user());
        reply.bulkAscii("age-seconds");
        reply.doubleValue((nowMillis - entry.updatedMillis()) / 1000.0);
        reply.bulkAscii("client-info");
        reply.bulkText(entry.client());
        number(reply, "entry-id", entry.id());
        number(reply, "timestamp-created", entry.createdMillis());
        number(reply, "timestamp-last-updated", entry.updatedMillis());
    }

    private static void number(ReplyWriter reply, String name, long value) {
        reply.bulkAscii(name);
        reply.integer(value);
    }

    private static void word(ReplyWriter reply, String name, String value) {
        reply.bulkAscii(name);
        bulk(reply, value);
    }

    private static void help(CommandContext call) {
        HelpText.reply(call.reply(), "ACL", "CAT [<category>]",
                "    List the ACL categories, or the commands of a category.", "DELUSER <username> [<username> ...]",
                "    Delete users.", "DRYRUN <username> <command> [<arg> ...]",
                "    Check whether a user may run a command, without running it.", "GETUSER <username>",
                "    Return the rules of a user.", "GENPASS [<bits>]",
                "    Generate a random password in hexadecimal digits. The default size is 256 bits.", "LIST",
                "    List the rules of all users in the format of an ACL file.", "LOAD",
                "    Reload the users from the ACL file.", "LOG [<count> | RESET]", "    List the latest denials.",
                "SAVE",
                "    Save the users to the ACL file.", "SETUSER <username> <attribute> [<attribute> ...]",
                "    Create or modify a user with rules.", "USERS", "    List the names of all users.", "WHOAMI",
                "    Return the name of this connection's user.");
    }
}
