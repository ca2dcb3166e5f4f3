package soak

import (
	"strings"

	"golang.org/x/mod/semver"
)

// semantic gives a version in the form that semver wants, or "" when it is none.
func semantic(version string) string {
	v := "v" + strings.TrimPrefix(version, "v")
	if !semver.IsValid(v) {
		return ""
	}
	return v
}

// compareVersions orders two versions of a server: by semantic version if both
// have one, else by first sight in production. It reports false when neither
// way can order them.
func (j *judge) compareVersions(server, a, b string) (int, bool) {
	if a == b {
		return 0, true
	}
	if x, y := semantic(a), semantic(b); x != "" && y != "" {
		return semver.Compare(x, y), true
	}
	return j.compareFirst(server, a, b)
}

func (j *judge) compareFirst(server, a, b string) (int, bool) {
	var x, y Minute
	for _, v := range j.versions(server) {
		if v.Version == a {
			x = v.First
		}
		if v.Version == b {
			y = v.First
		}
	}
	return compare(x, y), x != 0 && y != 0
}

// prerelease tells whether a version is a semantic pre-release, which is no
// release (D14).
func prerelease(version string) bool { return semver.Prerelease(semantic(version)) != "" }

// laterRelease tells whether release a came after release b. A release is
// major.minor of a semantic version; any other version is a release by itself.
// What cannot be ordered is taken to be later, so that it counts against.
func (j *judge) laterRelease(server, a, b string) bool {
	if a == b {
		return false
	}
	if x, y := semantic(a), semantic(b); x != "" && y != "" {
		return semver.Compare(semver.MajorMinor(x), semver.MajorMinor(y)) > 0
	}
	order, ok := j.compareFirst(server, a, b)
	return !ok || order > 0
}
