"""Where passes for a task are written: in the Workbench, or in the lesson that the task belongs to."""

from pages.ui import links, resources


def place_of(task_id: str) -> tuple[links.Name, dict[str, str]]:
    """Return the page, and what the URL selects there."""
    lesson = resources.shared().course.of_task(task_id)
    return ("workbench", {"task": task_id}) if lesson is None else ("learn", {"lesson": lesson.id})
