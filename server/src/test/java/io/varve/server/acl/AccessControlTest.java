package io.varve.server.acl;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;

import io.varve.server.config.ConfigException;
import io.varve.server.config.ConfigReader;
import io.varve.server.config.ServerConfig;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests users, the parsing and formatting of their rules, and their file. Confined to the test's thread. */
class AccessControlTest {
    private static final String HASH_OF_ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    private static final GlobMatch NO_GLOB = (_, _, _, _) -> false;

    @TempDir
    Path folder;

    private final AccessControl control = open(ServerConfig.defaults());

    private static AccessControl open(ServerConfig config) {
        return AccessControl.open(new StubNames(), NO_GLOB, config);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"on | on resetchannels -@all",
            "on nopass ~* &* +@all | on nopass ~* &* +@all",
            ">abc >abc nopass >abc | off #" + HASH_OF_ABC + " resetchannels -@all",
            "~a %R~b %W~b %R~c | off ~a ~b %R~c resetchannels -@all", "&x &y &x | off resetchannels &x &y -@all",
            "+get -get +get | off resetchannels -@all +get", "+@all -get | off resetchannels +@all -get",
            "+@all -@string +GET | off resetchannels +@all -@string +get",
            "+config;get +config;set -config | off resetchannels -@all -config",
            "+@read +@write +@read | off resetchannels -@all +@write +@read",
            "+select;Zero +select;zero | off resetchannels -@all +select;Zero",
            "(+get ~a) ( +set ) | off resetchannels -@all (~a resetchannels -@all +get) (resetchannels -@all +set)",
            "on >abc ~* +@all (+get) reset | off sanitize-payload resetchannels -@all"})
    void rulesAreListedAsGivenWithoutRepetition(String rules, String reported) throws RuleException {
        control.set("u", List.of(plain(rules).split(" ")));
        assertThat(control.lines()).containsExactly("user default on nopass ~* &* +@all", "user u " + plain(reported));
    }

    /** A bar separates the columns above. */
    private static String plain(String text) {
        return text.replace(';', '|');
    }

    @Test
    void listedRulesRecreateTheUser() throws RuleException {
        long seed = TestBudget.seed("varve.test.seed");
        SplittableRandom random = new SplittableRandom(seed);
        String[] rules = {"on", "off", "nopass", ">abc", ">x", "resetpass", "~a", "~*", "%R~b", "%W~b", "%RW~*",
                "resetkeys",
                "&c",
                "allchannels", "resetchannels", "+get", "-get", "+config|get", "-config|set", "+config", "+select|0",
                "+select|1", "-select", "+@string", "-@string", "+@fast", "-@slow", "+@all", "-@all", "(+get ~b)",
                "(+@all -set)", "clearselectors", "sanitize-payload", "skip-sanitize-payload"};
        int made = 0;
        for (int i = 0; i < 5_000; i++) {
            List<String> some = new ArrayList<>();
            for (int j = random.nextInt(12); j >= 0; j--) {
                some.add(rules[random.nextInt(rules.length)]);
            }
            String one = "one" + i;
            try {
                control.set(one, some);
            } catch (RuleException afterStar) {
                assertThat(afterStar.reason()).contains("Adding a pattern after the * pattern");
                continue;
            }
            made++;
            User user = Objects.requireNonNull(control.find(one)).user();
            User again = control.set("again", List.of(("clearselectors reset " + user.describe()).split(" "))).user();
            assertThat(again.describe().replace(" sanitize-payload", "")).as("seed %d: %s", seed, some)
                    .isEqualTo(user.describe().replace(" sanitize-payload", ""));
            assertThat(again.root().commands()).as("seed %d: %s", seed, some).isEqualTo(user.root().commands());
            assertThat(again.root().firstArguments()).as("seed %d: %s", seed, some)
                    .isEqualTo(user.root().firstArguments());
            assertThat(control.delete(one)).isNotNull();
        }
        assertThat(made).isGreaterThan(1_000);
    }

    /**
     * Words are put together up to one that closes, from the last one that opens; a NUL ends each of them. All of that
     * is Redis's.
     */
    @Test
    void wordsInParenthesesArePutTogether() throws RuleException {
        assertThat(AccessControl.mergeGroups(List.of("on", "(+get", "~a", "~b)", "-get", "(~a)", "(", ")")))
                .containsExactly("on", "(+get ~a ~b)", "-get", "(~a)", "( )");
        assertThat(AccessControl.mergeGroups(List.of("(+get", "(+set", "(~a)"))).containsExactly("(+set (~a)");
        assertThat(AccessControl.mergeGroups(List.of("(", "~a\0b", "&c\0)"))).containsExactly("( ~a &c");
        assertThatThrownBy(() -> AccessControl.mergeGroups(List.of("(+get", "(+set", "~a")))
                .isInstanceOfSatisfying(RuleException.class, bad -> assertThat(bad.reply())
                        .isEqualTo("Unmatched parenthesis in acl selector starting at '(+set'."));
    }

    @Test
    void rulesAreAppliedAllOrNone() {
        assertThatThrownBy(() -> control.set("u", List.of("on", "+nosuch"))).isInstanceOf(RuleException.class);
        assertThat(control.find("u")).isNull();
    }

    @Test
    void aWrongPasswordIsNotRepeated() {
        assertThatThrownBy(() -> control.set("u", List.of("<tell-nobody"))).isInstanceOfSatisfying(RuleException.class,
                bad -> assertThat(bad.reply()).contains("'<(redacted)'").doesNotContain("tell-nobody"));
    }

    @Test
    void disabledUnknownOrWrongUsersAreRejected() throws RuleException {
        control.set("u", List.of(">abc", ">def"));
        assertThat(control.authenticate("u", bytes("abc"))).isNull();
        control.set("u", List.of("on"));
        assertThat(control.authenticate("u", bytes("abc"))).isNotNull();
        assertThat(control.authenticate("u", bytes("def"))).isNotNull();
        assertThat(control.authenticate("u", bytes("ab"))).isNull();
        assertThat(control.authenticate("nobody", bytes("abc"))).isNull();
        assertThat(control.authenticate("default", bytes("any"))).isNotNull();
        Account account = Objects.requireNonNull(control.delete("u"));
        assertThat(account.isDeleted()).isTrue();
        assertThat(account.user().isUnrestricted()).isFalse();
        assertThat(control.authenticate("u", bytes("abc"))).isNull();
    }

    @Test
    void thePasswordOfTheSettingIsTheDefaultUsers() {
        ServerConfig config = ServerConfig.defaults().with("requirepass", "abc");
        AccessControl locked = open(config);
        assertThat(locked.lines()).containsExactly("user default on #" + HASH_OF_ABC + " ~* &* +@all");
        assertThat(locked.configurationLines(config)).isEmpty();
        locked.reconfigure(config, config.with("requirepass", ""));
        assertThat(locked.lines()).containsExactly("user default on nopass ~* &* +@all");
        assertThat(locked.configurationLines(config)).hasSize(1);
    }

    // --- lines of the configuration

    private ServerConfig read(String... lines) throws IOException {
        return ConfigReader.read(List.of(Files.write(folder.resolve("varve.conf"), List.of(lines)).toString()));
    }

    @Test
    void usersStandInTheConfiguration() throws IOException {
        AccessControl users = open(read("user alice on >abc ~a* (+get ~b)", "user default off"));
        assertThat(users.lines()).containsExactly(
                "user alice on #" + HASH_OF_ABC + " ~a* resetchannels -@all (~b resetchannels -@all +get)",
                "user default off sanitize-payload resetchannels -@all");
        assertThat(users.defaultAccount().user().needsNoLogin()).isFalse();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"user alice on >tell-nobody +nosuch | Unknown command or category name in ACL",
            "user alice on >tell-nobody ( | Unmatched parenthesis in selector definition",
            "user alice >tell-nobody foo | Syntax error"})
    void aWrongLineIsNamedAndNoPasswordShown(String line, String why) throws IOException {
        ServerConfig config = read("port 1", line);
        assertThatThrownBy(() -> open(config)).isInstanceOf(ConfigException.class)
                .hasMessageContaining("varve.conf:2: user alice: " + why).hasMessageNotContaining("tell-nobody");
    }

    @Test
    void usersAreNotInTwoPlaces() throws IOException {
        ServerConfig config = read("user alice on", "aclfile users.acl");
        assertThatThrownBy(() -> open(config)).isInstanceOf(ConfigException.class).hasMessageContaining("aclfile")
                .hasMessageContaining("varve.conf:1");
    }

    // --- the file

    private Path file(String... lines) throws IOException {
        return Files.write(folder.resolve("users.acl"), List.of(lines), StandardCharsets.ISO_8859_1);
    }

    private static ServerConfig withFile(Path file) {
        return ServerConfig.defaults().with("aclfile", file.toString());
    }

    @Test
    void theFileIsWrittenAndReadBack() throws IOException, RuleException {
        Path file = file("user alice on nopass ~\u00ff*", "", "  user bob off +@all -get (~a +set) ");
        AccessControl users = open(withFile(file));
        assertThat(users.lines()).containsExactly("user alice on nopass ~\u00ff* resetchannels -@all",
                "user bob off resetchannels +@all -get (~a resetchannels -@all +set)",
                "user default on nopass ~* &* +@all");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        users.set("carol", List.of("on", ">abc"));
        users.save(file);
        assertThat(Files.readAllLines(file, StandardCharsets.ISO_8859_1)).isEqualTo(users.lines());
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file))).isEqualTo("rw-r-----");
        List<String> before = users.lines();
        List<String> errors = new ArrayList<>();
        Account alice = Objects.requireNonNull(users.find("alice"));
        assertThat(users.load(file, errors)).hasSize(3).contains(alice);
        assertThat(errors).isEmpty();
        assertThat(users.lines()).isEqualTo(before);
        assertThat(alice.isDeleted()).isTrue();
    }

    @Test
    void aByteOrderMarkInFrontOfTheFileIsSkipped() throws IOException {
        Path file = Files.writeString(folder.resolve("users.acl"), "\uFEFFuser alice on nopass +get\nuser bob off\n");
        AccessControl users = open(withFile(file));
        assertThat(users.find("alice")).isNotNull();
        List<String> errors = new ArrayList<>();
        assertThat(users.load(file, errors)).isNotEmpty();
        assertThat(errors).isEmpty();
    }

    @Test
    void aFileWithAMistakeChangesNothing() throws IOException {
        AccessControl users = open(withFile(file("user alice on")));
        Account alice = users.find("alice");
        Path wrong = file("user alice on +nosuch", "# comment", "user bob >tell-nobody (+get", "user carol on",
                "user carol off");
        List<String> errors = new ArrayList<>();
        assertThat(users.load(wrong, errors)).isEmpty();
        assertThat(String.join(" ", errors)).contains("users.acl:1: Unknown command or category name in ACL.",
                "users.acl:2 should start with user keyword", "users.acl:3: Unmatched parenthesis",
                "Duplicate user 'carol' found on line 5", "no change to the previously active ACL rules")
                .doesNotContain("tell-nobody");
        assertThat(users.find("alice")).isSameAs(alice);
        assertThatThrownBy(() -> open(withFile(wrong))).isInstanceOf(ConfigException.class)
                .hasMessageContaining("aclfile").hasMessageContaining("users.acl:1");
        assertThatThrownBy(() -> open(withFile(folder.resolve("none")))).isInstanceOf(ConfigException.class)
                .hasMessageContaining("No such file or directory");
    }

    // --- the log

    @Test
    void denialsOfOneThingAreOneEntry() {
        AclLog log = control.log();
        log.add(Denial.KEY, AclLog.TOP_LEVEL, "k", "u", "client 1", 1_000, 3);
        log.add(Denial.COMMAND, AclLog.TOP_LEVEL, "get", "u", "client 1", 2_000, 3);
        log.add(Denial.KEY, AclLog.TOP_LEVEL, "k", "u", "client 2", 60_000, 3);
        assertThat(log.latest(10)).containsExactly(
                new AclLog.Entry(0, 2, Denial.KEY, AclLog.TOP_LEVEL, "k", "u", "client 2", 1_000, 60_000),
                new AclLog.Entry(1, 1, Denial.COMMAND, AclLog.TOP_LEVEL, "get", "u", "client 1", 2_000, 2_000));
        log.add(Denial.KEY, AclLog.TOP_LEVEL, "k", "u", "client 3", 120_001, 3);
        log.add(Denial.KEY, AclLog.IN_MULTI, "k", "u", "client 3", 120_001, 3);
        assertThat(log.latest(10)).extracting(AclLog.Entry::id).containsExactly(3L, 2L, 0L);
        assertThat(log.latest(1)).hasSize(1);
        assertThat(log.denied(Denial.KEY)).isEqualTo(4);
        log.reset();
        assertThat(log.latest(10)).isEmpty();
        log.resetCounts();
        assertThat(log.denied(Denial.KEY)).isZero();
    }
}
