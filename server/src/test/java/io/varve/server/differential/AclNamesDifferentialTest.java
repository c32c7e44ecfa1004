package io.varve.server.differential;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

import io.varve.server.VarveServer;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that users' rules may name every command of Redis, including those that Varve does not have: otherwise an ACL
 * file made for Redis would not load. Confined to the test's thread.
 */
class AclNamesDifferentialTest {
    /** Commands of Redis 7.2 and 7.4. */
    private static final List<String> LATER_COMMANDS = List.of("waitaof", "cluster|myshardid", "client|no-touch",
            "client|setinfo", "hexpire", "hgetdel", "hgetex", "hpersist", "hpttl", "hsetex");
    private static final List<String> NO_COMMANDS = List.of("nosuch", "cluster|nosuch", "xgroup|nosuch", "xadd|",
            "cluster|info|x", "@nosuch", "script|");

    @RegisterExtension
    static final ServerExtension server = ServerExtension.withReference("maxmemory 64mb");

    /** The full names of all commands of the real Redis, and of some later ones. */
    private static List<String> namesOfRedis() throws IOException {
        List<String> names = new ArrayList<>(LATER_COMMANDS);
        try (RawClient redis = new RawClient(server.reference().port())) {
            redis.call("COMMAND").elements().forEach(command -> addNames(command, names));
        }
        return names;
    }

    private static void addNames(RawReply command, List<String> names) {
        names.add(command.elements().getFirst().text());
        // Redis lists subcommands since 7.0.
        if (command.elements().size() > 9) {
            command.elements().get(9).elements().forEach(child -> addNames(child, names));
        }
    }

    @Test
    void setuser_everyCommandOfRedis_isKeptAndListed() throws IOException {
        List<String> names = namesOfRedis();
        assertThat(names).contains("xadd", "eval", "cluster|info", "get", "config|get");
        try (RawClient varve = new RawClient(server.port())) {
            for (String name : names) {
                for (String sign : List.of("+", "-")) {
                    assertThat(
                            varve.call("ACL", "SETUSER", "u", "reset", sign + name.toUpperCase(java.util.Locale.ROOT))
                                    .text())
                            .as(sign + name).isEqualTo("OK");
                    assertThat(varve.call("ACL", "GETUSER", "u").elements().get(5).text())
                            .isEqualTo("-@all " + sign + name);
                    assertThat(varve.call("ACL", "LIST").elements().getLast().text()).endsWith(" -@all " + sign + name);
                }
            }
        }
    }

    @Test
    void setuser_noCommandOfAnyRedis_isRefused() throws IOException {
        try (RawClient varve = new RawClient(server.port())) {
            for (String name : NO_COMMANDS) {
                RawReply reply = varve.call("ACL", "SETUSER", "u", "+" + name);
                assertThat(reply.isError()).as(name).isTrue();
                assertThat(reply.text()).startsWith("ERR Error in ACL SETUSER modifier '+" + name + "': ");
            }
        }
    }

    @Test
    void setuser_commandThatIsNotHere_allowsNothingElse() throws IOException {
        try (RawClient varve = new RawClient(server.port())) {
            assertThat(varve.call("ACL", "SETUSER", "u", "reset", "~*", "+xadd", "+cluster|info", "+eval|x").text())
                    .isEqualTo("OK");
            assertThat(varve.call("ACL", "DRYRUN", "u", "GET", "k").text())
                    .isEqualTo("User u has no permissions to run the 'get' command");
            assertThat(varve.call("ACL", "SETUSER", "u", "+get", "-@scripting", "+@stream").text()).isEqualTo("OK");
            assertThat(varve.call("ACL", "GETUSER", "u").elements().get(5).text())
                    .isEqualTo("-@all +xadd +cluster|info +eval|x +get -@scripting +@stream");
            assertThat(varve.call("ACL", "DRYRUN", "u", "GET", "k").text()).isEqualTo("OK");
        }
    }

    /**
     * Equal to Redis, except categories that changed later; beyond that only commands that Redis 7.0 does not
     * know.
     */
    @Test
    void cat_everyCategory_namesWhatRedisNames() throws IOException {
        Set<String> known = new TreeSet<>(namesOfRedis());
        LATER_COMMANDS.forEach(known::remove);
        // WAIT is @blocking since 7.2.
        Set<String> changed = Set.of("blocking wait");
        try (RawClient varve = new RawClient(server.port());
                RawClient redis = new RawClient(server.reference().port())) {
            for (RawReply category : redis.call("ACL", "CAT").elements()) {
                Set<String> expected = names(redis.call("ACL", "CAT", category.text()));
                Set<String> actual = names(varve.call("ACL", "CAT", category.text()));
                actual.removeIf(name -> !known.contains(name) || changed.contains(category.text() + " " + name));
                assertThat(actual).as(category.text()).isEqualTo(expected);
            }
        }
    }

    private static Set<String> names(RawReply list) {
        Set<String> names = new TreeSet<>();
        list.elements().forEach(name -> names.add(name.text()));
        return names;
    }

    @Test
    void aFileOfUsersThatRedisWrote_isReadAndWrittenAgain(@TempDir Path folder) throws IOException {
        Path file = Files.write(folder.resolve("users.acl"),
                List.of("user default on nopass ~* &* +@all", "user stream on nopass ~* resetchannels -@all +xadd"
                        + " +xgroup|create +@scripting -evalsha +cluster|info -wait",
                        "user worker on nopass ~* &* +@all -bgrewriteaof -cluster -xread (~a* resetchannels -@all +eval)"));
        List<String> lines = Files.readAllLines(file);
        try (VarveServer filed = server.start("maxmemory 64mb", "aclfile " + file.toString());
                RawClient root = new RawClient(filed.port())) {
            assertThat(root.call("ACL", "LIST").elements()).extracting(RawReply::text).isEqualTo(lines);
            Files.write(file, List.of());
            assertThat(root.call("ACL", "SAVE").text()).isEqualTo("OK");
            assertThat(Files.readAllLines(file)).isEqualTo(lines);
            assertThat(root.call("ACL", "LOAD").text()).isEqualTo("OK");
        }
    }
}
