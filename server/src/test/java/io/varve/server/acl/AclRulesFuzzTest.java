package io.varve.server.acl;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

import io.varve.server.config.ServerConfig;
import io.varve.server.fuzz.FuzzCase;
import io.varve.server.fuzz.FuzzFile;
import io.varve.server.fuzz.FuzzRun;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Applies any words as rules of a user: they cause the one exception, or yield a user whose ACL LIST line recreates it,
 * by ACL SETUSER and from a file. Confined to the test's thread.
 */
public class AclRulesFuzzTest {
    private static final GlobMatch NO_GLOB = (_, _, _, _) -> false;

    private static FuzzFile file;

    @BeforeAll
    public static void fuzzerInitialize() throws IOException {
        file = FuzzFile.create("users.acl");
    }

    @AfterAll
    public static void fuzzerTearDown() throws IOException {
        file.close();
    }

    @Test
    void acceptedRulesSurviveARoundTrip() {
        new FuzzRun(fuzzCase()).run();
    }

    /** The target, for whatever drives it. */
    public static FuzzCase fuzzCase() {
        return new FuzzCase(AclRulesFuzzTest.class, AclRulesFuzzTest::fuzzerTestOneInput,
                List.of("on\n>abc\n~a*\n%R~b\n%RW~*\n&c\n+get", "off\nnopass\n+@all\n-get\n-config|set\n(+get ~b)",
                        "+select|0\n+select|Zero\n+config|get\n-@string\n+@fast\n( +get\n%W~x\n&y )",
                        "allkeys\nallchannels\nallcommands\nresetkeys\nresetchannels\nnocommands\nreset\nclearselectors",
                        "(~\"a\\x41b\" '+get' &x)\n(%R~\"a\\\"b\")\nsanitize-payload\nskip-sanitize-payload\nresetpass",
                        "#ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\n<abc\n>abc\n!x"),
                List.of("\n", "(", ")", "(+get ~a)", "\"", "'", "\\", "\\x", " ", "\t", "\0", "|", "+", "-", "@", "~",
                        "%", "&", "%R~",
                        "%W~", "*", "+@all", "-@all", "+get", "-get", "+select|", "+config", "-config|get", "\u001c",
                        "\u0085",
                        "\u00a0", "\u00ff", "on", "reset", "~*", "&*", ">x", "<x"));
    }

    /** Found by the fuzzer. */
    @ParameterizedTest
    @ValueSource(strings = {"(~\"a\\\"b\")", "(~a'b'c)", "(~a) +get)", "(&\"x\\x29\" +get)", "(~\"'\" ~\\)",
            "(~\"a\\x1cb\")",
            "~a\u001c", "(&x\u001f)"})
    void patternsOfAllBytesSurviveARoundTrip(String rule) {
        assertThat(user(List.of(rule))).isNotNull();
        fuzzerTestOneInput(rule.getBytes(StandardCharsets.ISO_8859_1));
    }

    @ParameterizedTest
    @ValueSource(strings = {"+select|a b", "+select|a\nb", "+select|\0", "(\"+select|a b\")"})
    void anAmbiguousFirstArgumentIsRefused(String rule) {
        assertThat(user(List.of(rule))).isNull();
    }

    private static AccessControl control() {
        return AccessControl.open(new StubNames(), NO_GLOB, ServerConfig.defaults());
    }

    /** Null if the rules are refused. */
    private static @org.jspecify.annotations.Nullable User user(List<String> rules) {
        AccessControl control = control();
        try {
            return control.set("u", rules).user();
        } catch (RuleException refused) {
            assertThat(refused.reply()).isNotEmpty();
            assertThat(control.find("u")).isNull();
            return null;
        }
    }

    public static void fuzzerTestOneInput(byte[] input) {
        User user = user(List.of(new String(input, StandardCharsets.ISO_8859_1).split("\n", -1)));
        if (user == null) {
            return;
        }
        String reported = user.describe();
        assertThat(reported).doesNotContain("\n", "\r", "\0");
        assertSame(Objects.requireNonNull(user(Arrays.asList(reported.split(" ", -1))), reported), user);
        Path written = file.write(("user u " + reported + "\n").getBytes(StandardCharsets.ISO_8859_1));
        List<String> errors = new ArrayList<>();
        User read = AclFile.read(written, control(), errors).get("u");
        assertThat(errors).isEmpty();
        assertSame(Objects.requireNonNull(read), user);
    }

    private static void assertSame(User again, User user) {
        assertThat(again.describe()).isEqualTo(user.describe());
        assertSame(again.root(), user.root());
        assertThat(again.groups()).hasSameSizeAs(user.groups());
        for (int i = 0; i < user.groups().size(); i++) {
            assertSame(again.groups().get(i), user.groups().get(i));
        }
    }

    private static void assertSame(Selector again, Selector selector) {
        assertThat(again.describe()).isEqualTo(selector.describe());
        assertThat(again.commands()).isEqualTo(selector.commands());
        assertThat(again.firstArguments()).isEqualTo(selector.firstArguments());
        // A command that was removed and added back leaves the rules unchanged, but not the fast path past them.
        assertThat(again.allCommands()).isIn(selector.allCommands(), true);
    }
}
