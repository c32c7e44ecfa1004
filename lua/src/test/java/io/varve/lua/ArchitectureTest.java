package io.varve.lua;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

/** Tests the dependencies between the packages of this module. Confined to the test's thread. */
class ArchitectureTest {
    private static final String ROOT = "io.varve.lua";
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS).importPackages(ROOT);

    @Test
    void packages_haveNoImportCycle() {
        slices().matching("(io.varve.lua..)").should().beFreeOfCycles().check(CLASSES);
    }

    /** A script reaches no file, no process and no class of the server. */
    @Test
    void theEngine_reachesNothingOutside() {
        noClasses().should().dependOnClassesThat()
                .resideInAnyPackage("java.io..", "java.nio.file..", "java.net..", "java.lang.reflect..").check(CLASSES);
    }
}
